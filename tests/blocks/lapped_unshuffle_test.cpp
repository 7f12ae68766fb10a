#include <gtest/gtest.h>
#include <spnn/blocks/lapped_unshuffle.h>
#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <torch/csrc/autograd/autograd.h>

#include "support/tensor_near.h"

namespace spnn {
namespace {

using testing::TensorNear;

LappedUnshuffle four() { return LappedUnshuffle({.in = {3, 32, 32}, .factor = 4, .colour = true}); }

TEST(LappedUnshuffle, IsOrthogonalForEveryLengthAndFactor) {
  for (const std::int64_t factor : {2, 4, 6, 8}) {
    for (const std::int64_t cells : {1, 2, 5, 16}) {
      const auto T = lapped_matrix(cells * factor, factor);
      EXPECT_THAT(T.mm(T.t()), TensorNear(torch::eye(cells * factor, torch::kFloat64), 1e-14));
    }
  }
}

TEST(LappedUnshuffle, AMeanStaysAMeanThroughAnyNumberOfLevels) {
  auto y = torch::full({1, 1, 32, 32}, 0.75, torch::kFloat64);
  for (const auto& [side, factor] : std::vector<std::pair<std::int64_t, std::int64_t>>{{32, 4}, {8, 2}, {4, 4}}) {
    y = LappedUnshuffle({.in = {1, side, side}, .factor = factor}).forward(y).narrow(1, 0, 1);
    EXPECT_LT(y.max().item<double>(), 1.0);
    EXPECT_GT(y.min().item<double>(), 0.5);
  }
}

TEST(LappedUnshuffle, AConstantImageHasItsFirstOutputAlone) {
  const auto y = LappedUnshuffle({.in = {1, 16, 16}, .factor = 2}).forward(torch::ones({1, 1, 16, 16}, torch::kFloat64));
  EXPECT_LT(y.narrow(1, 1, 3).abs().max().item<double>(), 1e-12);
  EXPECT_GT(y.select(1, 0).min().item<double>(), 0.7);
  const auto grey = four().forward(torch::ones({1, 3, 32, 32}, torch::kFloat64));
  EXPECT_LT(grey.narrow(1, 1, 47).abs().max().item<double>(), 1e-12);
}

// What a change of one output looks like: a window that reaches half a cell into its neighbours and no further, with nowhere a step as
// high as a plain cell's.
TEST(LappedUnshuffle, AnOutputFadesOutWithinItsNeighbours) {
  const LappedUnshuffle block({.in = {1, 32, 32}, .factor = 4});
  auto y = torch::zeros({1, 16, 8, 8}, torch::kFloat64);
  y[0][0][3][3] = 1;
  const auto window = block.pinv(y)[0][0];
  EXPECT_EQ(window.narrow(0, 10, 8).narrow(1, 10, 8).square().sum().item<double>(), window.square().sum().item<double>());
  const auto line = window[13];
  const auto highest = line.max().item<double>();
  const auto step = line.diff().abs().max().item<double>();
  EXPECT_LT(step, 0.5 * highest);   // a plain cell's step is its height
  EXPECT_GT(line.narrow(0, 10, 2).abs().max().item<double>(), 0.1 * highest);
}

TEST(LappedUnshuffle, DoesNotWrapAround) {
  const LappedUnshuffle block({.in = {1, 16, 16}, .factor = 4});
  auto x = torch::zeros({1, 1, 16, 16}, torch::kFloat64);
  x[0][0][0][0] = 1;
  const auto y = block.forward(x)[0].abs().sum(0);
  EXPECT_NEAR(y.narrow(0, 1, 3).sum().item<double>() + y.narrow(1, 1, 3).sum().item<double>(), 0, 1e-12);
}

TEST(LappedUnshuffle, SmoothImagesLiveInTheFirstOutputs) {
  const auto ramp = torch::linspace(-1, 1, 32, torch::kFloat64);
  const auto image = (ramp.view({1, 1, 32, 1}) + 0.5 * (3 * ramp).sin().view({1, 1, 1, 32})).expand({1, 3, 32, 32});
  const auto y = four().forward(image);
  EXPECT_GT(y.narrow(1, 0, 12).square().sum().item<double>(), 0.99 * y.square().sum().item<double>());
}

TEST(LappedUnshuffle, PassesGradients) {
  const auto block = four();
  auto x = Rng(1).randn({1, 3, 32, 32}, torch::kFloat64).requires_grad_();
  const auto weight = Rng(2).randn({1, 48, 8, 8}, torch::kFloat64);
  const auto gradient = torch::autograd::grad({(block.forward(x) * weight).sum()}, {x})[0];
  const auto direction = Rng(3).randn({1, 3, 32, 32}, torch::kFloat64);   // of a linear map the gradient along v is the map of v
  EXPECT_NEAR((gradient * direction).sum().item<double>(), (block.forward(direction) * weight).sum().item<double>(), 1e-9);
}

TEST(LappedUnshuffle, RefusesWhatDoesNotFit) {
  EXPECT_THROW(LappedUnshuffle({.in = {3, 32, 32}, .factor = 3}), Error);
  EXPECT_THROW(LappedUnshuffle({.in = {3, 30, 32}, .factor = 4}), Error);
  EXPECT_THROW(LappedUnshuffle({.in = {4, 32, 32}, .factor = 4, .colour = true}), Error);
}

}  // namespace
}  // namespace spnn
