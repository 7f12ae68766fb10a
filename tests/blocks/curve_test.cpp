#include <gtest/gtest.h>
#include <spnn/blocks/curve.h>
#include <spnn/core/rng.h>

#include "support/random_fill.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

MonotoneSpline random_spline(std::int64_t curves, std::int64_t pieces) {
  const auto heights = torch::exp(2 * Rng(1).randn({curves, pieces}, torch::kFloat64)), widths = torch::exp(Rng(2).randn({curves, pieces}, torch::kFloat64));
  const auto from_zero = [&](const Tensor& steps) { return torch::cat({torch::zeros({curves, 1}, torch::kFloat64), steps.cumsum(-1)}, -1) - 2; };
  return {from_zero(widths), from_zero(heights), slopes_at_knots(heights / widths)};
}

TEST(MonotoneSpline, GoesThroughItsKnotsRisesAndComesBack) {
  const auto spline = random_spline(3, 7);
  EXPECT_THAT(spline.forward(spline.x).at, testing::TensorNear(spline.y, 1e-12));
  EXPECT_THAT(torch::exp(spline.forward(spline.x).log_slope), testing::TensorNear(spline.slope, 1e-9));
  const auto x = std::get<0>((8 * Rng(3).randn({3, 400}, torch::kFloat64)).sort(-1));   // far beyond both ends too
  const auto y = spline.forward(x).at;
  EXPECT_GT(y.diff().min().item<double>(), 0);
  EXPECT_THAT(spline.inverse(y), testing::TensorNear(x, 1e-9));
}

TEST(MonotoneSpline, KnowsItsSlope) {
  const auto spline = random_spline(2, 5);
  auto x = (4 * Rng(4).randn({2, 50}, torch::kFloat64)).requires_grad_();
  const auto [y, log_slope] = spline.forward(x);
  y.sum().backward();
  EXPECT_THAT(torch::exp(log_slope), testing::TensorNear(x.grad(), 1e-9));
}

TEST(Curve, BeginsAsTheIdentity) {
  const Curve curve({.in = {2, 3, 3}, .pieces = 4});
  const auto x = 3 * Rng(1).randn({4, 2, 3, 3});
  EXPECT_THAT(curve.forward(x), testing::TensorNear(x, 1e-5));
}

TEST(Curve, StartsAtWhatPairsSay) {
  Curve curve({.in = {2, 16, 16}, .pieces = 64, .slope_bound = 3});
  curve.to(torch::kFloat64);
  const auto x = Rng(1).uniform({64, 2, 16, 16}, torch::kFloat64) * 2 - 1;
  const auto bent = torch::stack({x.select(1, 0).pow(3) + x.select(1, 0), torch::round(4 * x.select(1, 1)) / 4}, 1);
  const auto noisy = bent + 0.05 * Rng(2).randn(x.sizes(), torch::kFloat64);
  curve.start_at(x, noisy);
  const auto error = (curve.forward(x) - bent).square().mean({0, 2, 3}).sqrt();
  EXPECT_LT(error[0].item<double>(), 0.01) << "a smooth curve, from noisy pairs";
  EXPECT_LT(error[1].item<double>(), 0.5 * (x.select(1, 1) - bent.select(1, 1)).square().mean().sqrt().item<double>()) << "steps, as far as the slopes may go";
  EXPECT_THAT(curve.pinv(curve.forward(x)), testing::TensorNear(x, 1e-9));
}

TEST(Curve, IsNeverStartedFartherAwayThanTheIdentity) {
  Curve curve({.in = {1, 8, 8}, .pieces = 16, .slope_bound = 0.5});
  curve.to(torch::kFloat64);
  const auto x = Rng(1).randn({64, 1, 8, 8}, torch::kFloat64);
  const auto lost = torch::zeros_like(x);   // a slope of 0, which the bound forbids
  curve.start_at(x, lost);
  EXPECT_LT((curve.forward(x) - lost).square().mean().item<double>(), 0.6 * x.square().mean().item<double>());
}

TEST(Curve, KeepsItsSlopesWithinTheirBound) {
  Curve curve({.in = {1, 8, 8}, .pieces = 16, .slope_bound = 1});
  curve.to(torch::kFloat64);
  const auto x = Rng(1).uniform({32, 1, 8, 8}, torch::kFloat64) * 2 - 1;
  curve.start_at(x, torch::sign(x));
  const auto at = torch::linspace(-2, 2, 401, torch::kFloat64).view({401, 1, 1, 1}).expand({401, 1, 8, 8});
  const auto slopes = curve.forward(at).select(2, 0).select(2, 0).flatten().diff() / 0.01;
  EXPECT_GT(slopes.min().item<double>(), std::exp(-1.0) / 1.5) << "bends within a piece included";
  EXPECT_LT(slopes.max().item<double>(), std::exp(1.0) * 1.5);
}

}  // namespace
}  // namespace spnn
