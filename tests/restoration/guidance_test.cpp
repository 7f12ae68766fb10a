#include <gtest/gtest.h>
#include <spnn/core/rng.h>
#include <spnn/restoration/guidance.h>

#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using testing::refusal;
using testing::TensorNear;

Tensor at(const Guidance& guidance, std::int64_t t, const Tensor& y_cur, const Tensor& y_target) {
  return guidance({.t = t, .y_cur = y_cur, .y_target = y_target});
}

TEST(Guidance, ConstantIsTheSameForEveryImage) {
  const auto y = Rng(1).randn({3, 4});
  EXPECT_THAT(at(constant_lambda(0.25), 10, y, y), TensorNear(torch::full({3}, 0.25), 1e-7));
}

TEST(Guidance, TwoLevelsMeetAtTheirBound) {
  const auto y = Rng(1).randn({2, 4});
  const auto guidance = two_level_lambda({.early = 0.5, .late = 1.0, .below = 600});
  EXPECT_THAT(at(guidance, 600, y, y), TensorNear(torch::full({2}, 0.5), 0));
  EXPECT_THAT(at(guidance, 599, y, y), TensorNear(torch::full({2}, 1.0), 0));
}

TEST(Guidance, AdaptiveLooksAtTheControlledOutputsOfEachImage) {
  const auto y = torch::zeros({2, 3}, torch::kFloat64);
  const auto target = torch::tensor({{0.0, 7.0, 0.5}, {0.0, 0.0, 0.0}}, torch::kFloat64);
  const auto controlled = torch::tensor({0, 2}, torch::kInt64);
  const auto lambda = at(adaptive_lambda({.alpha = 0.8, .gamma = 2, .controlled = controlled}), 5, y, target);
  EXPECT_THAT(lambda, TensorNear(torch::tensor({0.8 * std::tanh(1.0), 0.0}, torch::kFloat64), 1e-12));
}

TEST(Guidance, RefusesALambdaOutsideOfTheUnitInterval) {
  EXPECT_THAT(refusal([] { constant_lambda(1.5); }), ::testing::HasSubstr("lambda: expected a number in [0, 1], got 1.5"));
  EXPECT_THAT(refusal([] { two_level_lambda({.early = -0.1}); }), ::testing::HasSubstr("early lambda"));
  EXPECT_THAT(refusal([] { adaptive_lambda({.alpha = 2}); }), ::testing::HasSubstr("alpha"));
}

TEST(Window, ContainsItsLowerAndNotItsUpperBound) {
  const Window window{.from = 500, .to = 100};
  EXPECT_TRUE(window.contains(100));
  EXPECT_TRUE(window.contains(499));
  EXPECT_FALSE(window.contains(500));
  EXPECT_FALSE(window.contains(99));
}

TEST(Window, CountsItsStepsBackFromTheLastOne) {
  const Window window{.every = 3};
  EXPECT_TRUE(window.contains(7, /*steps_left=*/0));
  EXPECT_FALSE(window.contains(7, 1));
  EXPECT_FALSE(window.contains(7, 2));
  EXPECT_TRUE(window.contains(7, 3));
}

}  // namespace
}  // namespace spnn
