#include <gtest/gtest.h>
#include <spnn/core/rng.h>

#include "support/tensor_near.h"

namespace spnn {
namespace {

TEST(Rng, ForksAreReproducibleAndDistinct) {
  const Rng rng(7);
  EXPECT_TRUE(torch::equal(rng.fork(3).randn({100}), rng.fork(3).randn({100})));
  EXPECT_FALSE(torch::equal(rng.fork(3).randn({100}), rng.fork(4).randn({100})));
  EXPECT_NE(rng.fork(0).seed(), rng.seed());
}

TEST(Rng, NoisePerImageDoesNotDependOnTheBatch) {
  const Rng rng(7);
  const auto five = rng.randn_per_image({5, 3, 4, 4});
  const auto two = rng.randn_per_image({2, 3, 4, 4}, /*first=*/3);
  EXPECT_TRUE(torch::equal(five.slice(0, 3, 5), two));
}

}  // namespace
}  // namespace spnn
