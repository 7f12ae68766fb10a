#include <gmock/gmock.h>
#include <spnn/evaluation/detail_measures.h>

#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using spnn::testing::TensorNear;

Tensor wave(double cycles_a_pixel, double amplitude) {
  const auto at = torch::arange(64).to(torch::kFloat64);
  const auto row = 127.5 + 255 * amplitude * torch::sin(2 * M_PI * cycles_a_pixel * at);
  return row.round().to(torch::kUInt8).view({1, 1, 1, 64}).expand({2, 3, 64, 64}).contiguous();
}

TEST(EnergyAboveHalfBand, IsTheVarianceOfWhatAHalfSizedImageCouldNotHave) {
  EXPECT_NEAR(energy_above_half_band(wave(0.375, 0.2)), 0.02, 0.001);   // amplitude²/2
  EXPECT_LT(energy_above_half_band(wave(0.125, 0.2)), 1e-4);
  EXPECT_NEAR(energy_above_half_band(wave(0.375, 0.2).transpose(2, 3).contiguous()), 0.02, 0.001);
}

TEST(RandomCrops, AreAFunctionOfTheSeedAndLieInsideTheImage) {
  const auto images = (Rng(1).uniform({3, 3, 16, 16}) * 255).to(torch::kUInt8);
  const auto crops = random_crops(images, 8, 2, Rng(4));
  EXPECT_EQ(crops.sizes().vec(), (std::vector<std::int64_t>{6, 3, 8, 8}));
  EXPECT_TRUE(torch::equal(crops, random_crops(images, 8, 2, Rng(4))));
  EXPECT_FALSE(torch::equal(crops, random_crops(images, 8, 2, Rng(5))));
  EXPECT_TRUE(torch::equal(random_crops(images, 16, 1, Rng(4)), images));
  EXPECT_THAT(spnn::testing::refusal([&] { random_crops(images, 20, 1, Rng(0)); }), ::testing::HasSubstr("20 pixels or more"));
}

TEST(NearestDistances, FindACopyAndMeasureTheOthers) {
  const auto others = (Rng(1).uniform({5, 3, 32, 32}) * 200).to(torch::kUInt8);
  auto images = others.slice(0, 3, 5).clone();
  images[1] += 51;
  EXPECT_THAT(nearest_distances(images, others)[0], TensorNear(torch::zeros({}), 1e-3));
  EXPECT_LE(nearest_distances(images, others)[1].item<double>(), 0.2 + 1e-3);   // 51 of 255, or nearer to another
}

}  // namespace
}  // namespace spnn
