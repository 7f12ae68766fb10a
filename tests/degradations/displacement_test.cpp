#include <gtest/gtest.h>
#include <spnn/core/rng.h>
#include <spnn/degradations/black_box.h>
#include <spnn/degradations/degradation_network.h>
#include <spnn/degradations/displacement.h>
#include <spnn/operators/line_matrices.h>

#include <cmath>

#include "support/laws.h"

namespace spnn {
namespace {

using testing::TensorNear;

constexpr std::int64_t side = 32;
constexpr Shape photo_shape{3, side, side};

// Smooth noise with contrast.
Tensor pictures(std::int64_t count, std::uint64_t seed) {
  const auto G = gaussian_line(side, 1.5).to(torch::kFloat32);
  const auto x = G.matmul(Rng(seed).randn(photo_shape.batched(count))).matmul(G.t());
  return (x / x.std() * 0.4).clamp(-1, 1);
}

double psnr(const Tensor& a, const Tensor& b) { return 10 * std::log10(4 / (a - b).square().mean().item<double>()); }

// But for the border, where pictures end: how many pixels the field is off.
double pixels_off(const Tensor& fitted, const Tensor& truth) {
  const auto inner = (fitted - truth).slice(2, side / 8, 7 * side / 8).slice(3, side / 8, 7 * side / 8);
  return inner.square().mean().sqrt().item<double>() * (side - 1) / 2;
}

Tensor radial(double k, double chroma) {
  const auto line = torch::linspace(-1, 1, side, torch::kFloat64);
  const auto p = torch::stack({line.unsqueeze(0).expand({side, side}), line.unsqueeze(1).expand({side, side})});
  const auto stretch = 1 + k * p.square().sum(0);
  std::vector<Tensor> colours;
  for (int c = 0; c < 3; ++c) colours.push_back(p * (stretch / (1 + (1 - c) * chroma) - 1));
  return torch::stack(colours);
}

TEST(Displacement, IsFoundThroughVignettingAndForEachColour) {
  const auto x = pictures(64, 1);
  const auto D = make_black_box("lens:k=0.15,vignette=0.5,chroma=0.02", photo_shape);
  const auto d = fit_displacement(x, D(x));
  EXPECT_LT(pixels_off(d, radial(0.15, 0.02)), 0.25 * pixels_off(torch::zeros_like(d), radial(0.15, 0.02)));
}

TEST(Displacement, OfPicturesThatStayIsNone) {
  const auto x = pictures(32, 1);
  EXPECT_LT(pixels_off(fit_displacement(x, x), torch::zeros({3, 2, side, side}, torch::kFloat64)), 0.02);
}

TEST(Displacement, RowsThenColumnsAreTheWarp) {
  const auto x = pictures(16, 2).to(torch::kFloat64);
  const auto W = warp_matrices(radial(0.15, 0.02));
  const auto h = torch::einsum("cijk,bcik->bcij", {W.rows, x});
  const auto v = torch::einsum("cjik,bckj->bcij", {W.columns, h});
  EXPECT_GT(psnr(v, make_black_box("lens:k=0.15,chroma=0.02", photo_shape)(x)), 40) << "two passes of linear interpolation for one of bilinear";
  const auto still = warp_matrices(torch::zeros({3, 2, side, side}, torch::kFloat64));
  EXPECT_THAT(still.rows, TensorNear(torch::eye(side, torch::kFloat64).expand({3, side, side, side}), 1e-9));
}

TEST(Warp, BeginsAtTheLensAndTakesItBack) {
  const torch::NoGradGuard no_grad;
  const Reduction T(default_reduction(photo_shape), photo_shape);
  const DegradationNetworkConfig config{.hidden = 8, .kernel = 1, .r_hidden = 8, .warp = true};
  const auto D = make_black_box("lens:k=0.15,vignette=0.4,chroma=0.015,blur=1", photo_shape);
  const auto x = pictures(256, 1), unseen = pictures(32, 9), v = D(unseen);
  Spnn net(degradation_network(T, config));
  start_at(net, T, Rng(1));
  EXPECT_THAT(net.forward(unseen), TensorNear(T.forward(unseen), 1e-4)) << "the identity before it";
  start_warp(net, x, D(x), config);
  start_curves(net, T, x, D(x));
  const auto fit = psnr(T.picture(net.forward(unseen)), T.picture(T.forward(v))), untrained = psnr(T.picture(T.forward(unseen)), T.picture(T.forward(v)));
  EXPECT_GT(fit, untrained + 12);
  EXPECT_GT(psnr(net.pinv(T.forward(v)), unseen), psnr(v, unseen) + 8) << "g†(y), nothing trained";
  net.to(torch::kFloat64);
  const auto y = Rng(3).randn(net.out_shape().batched(2), torch::kFloat64);
  testing::expect_laws(net, unseen.slice(0, 0, 2).to(torch::kFloat64), y, 1e-9);
}

}  // namespace
}  // namespace spnn
