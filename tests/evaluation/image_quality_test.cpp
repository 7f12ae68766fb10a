#include <gtest/gtest.h>
#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/evaluation/image_quality.h>

#include <cmath>

namespace spnn {
namespace {

Tensor two_pictures(std::uint64_t seed) { return (Rng(seed).uniform({2, 3, 16, 16}) * 200 + 20).to(torch::kUInt8); }

TEST(ImageQuality, PsnrIsThatOfItsDefinition) {
  const auto a = two_pictures(1);
  EXPECT_NEAR(psnr(a + 5, a)[0].item<double>(), 20 * std::log10(255.0 / 5), 1e-9);
  EXPECT_TRUE(std::isinf(psnr(a, a)[1].item<double>()));
}

// Of two constant images only the luminance term is left: (2ab + C1)/(a² + b² + C1).
TEST(ImageQuality, SsimHasItsClosedFormsAndOrder) {
  const auto a = torch::full({1, 1, 16, 16}, 100, torch::kUInt8), b = torch::full({1, 1, 16, 16}, 150, torch::kUInt8);
  const double c1 = 6.5025;
  EXPECT_NEAR(ssim(a, b)[0].item<double>(), (2 * 100.0 * 150 + c1) / (100.0 * 100 + 150.0 * 150 + c1), 1e-9);
  const auto x = two_pictures(1);
  EXPECT_NEAR(ssim(x, x)[1].item<double>(), 1, 1e-12);
  const auto slightly = (x.to(torch::kFloat32) + 4 * Rng(3).randn(x.sizes())).clamp(0, 255).to(torch::kUInt8);
  const auto much = (x.to(torch::kFloat32) + 40 * Rng(3).randn(x.sizes())).clamp(0, 255).to(torch::kUInt8);
  EXPECT_LT(ssim(much, x)[0].item<double>(), ssim(slightly, x)[0].item<double>());
  EXPECT_NEAR(ssim(x, much)[0].item<double>(), ssim(much, x)[0].item<double>(), 1e-12);
}

TEST(ImageQuality, RefusesImagesOfOtherSizes) {
  EXPECT_THROW(psnr(two_pictures(1), two_pictures(1).slice(0, 0, 1)), Error);
  EXPECT_THROW(ssim(two_pictures(1).slice(2, 0, 8), two_pictures(1).slice(2, 0, 8)), Error);
}

}  // namespace
}  // namespace spnn
