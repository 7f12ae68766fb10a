#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spnn/core/rng.h>
#include <spnn/image/image.h>
#include <spnn/training/places.h>

#include "support/damage.h"

using namespace spnn;

namespace {

// Attribute 0 makes the upper left corner brighter by half a standard deviation. Attribute 1, the lower right one by two; nine in ten that have the
// second have the first.
Dataset two_corners() {
  constexpr std::int64_t n = 4000;
  const auto first = Rng(1).uniform({n}).gt(0.5).to(torch::kFloat32);
  const auto second = torch::where(Rng(2).uniform({n}).gt(0.1), first, 1 - first);
  auto x = 0.2 * Rng(3).randn({n, 3, 16, 16});
  const auto of_image = [](const Tensor& value) { return value.view({-1, 1, 1, 1}); };
  x.narrow(2, 0, 4).narrow(3, 0, 4).add_(0.05 * of_image(first));
  x.narrow(2, 12, 4).narrow(3, 12, 4).add_(0.2 * of_image(second));
  return {.name = "corners", .images = to_bytes(x.clamp(-1, 1)), .labels = torch::stack({first, second}, 1), .attributes = {"first", "second"}};
}

double mean_in(const Tensor& map, std::int64_t from) { return map.narrow(0, from, 2).narrow(1, from, 2).mean().item<double>(); }

}  // namespace

// The mean of 2×2 pixels of noise 0.2 varies by 0.1 in each of three colours: an effect of 0.05 is √3/2 of it, one of 0.2 2√3.
TEST(Places, AreOfAnAttributeAloneThoughAnotherComesWithIt) {
  const auto places = attribute_places(two_corners());
  EXPECT_EQ(places.sizes(), (torch::IntArrayRef{2, 8, 8}));
  EXPECT_NEAR(mean_in(places[0], 0), std::sqrt(3.0) / 2, 0.15);
  EXPECT_NEAR(mean_in(places[1], 6), 2 * std::sqrt(3.0), 0.5);
  EXPECT_LT(mean_in(places[0], 6), 0.25) << "nine in ten that have it are brighter there, for the other's sake";
  EXPECT_LT(mean_in(places[1], 0), 0.25);
  EXPECT_LT(mean_in(places[0], 3), 0.25);
}

TEST(Places, RefuseImagesWithoutAttributes) {
  auto classes = two_corners();
  classes.labels = classes.labels.select(1, 0).to(torch::kInt64);
  EXPECT_THAT(spnn::testing::refusal([&] { attribute_places(classes); }), ::testing::HasSubstr("attribute places: expected images with attributes"));
}
