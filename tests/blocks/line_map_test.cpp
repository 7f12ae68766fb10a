#include <gtest/gtest.h>
#include <spnn/blocks/line_map.h>

#include "support/damage.h"
#include "support/laws.h"

namespace spnn {
namespace {

using testing::TensorNear;
using Axis = LineMapConfig::Axis;

constexpr Shape lined{2, 3, 6};

Tensor random_picture(std::uint64_t seed, std::int64_t batch = 2) { return Rng(seed).randn(lined.batched(batch), torch::kFloat64); }

TEST(LineMap, IsTheIdentityAtFirst) {
  LineMap block({.in = lined});
  block.to(torch::kFloat64);
  EXPECT_THAT(block.forward(random_picture(1)), TensorNear(random_picture(1), 1e-15));
}

TEST(LineMap, MovesEachLineByItsOwnAmount) {
  // Row i of both channels is moved by i pixels, around.
  LineMap block({.in = lined, .axis = Axis::rows, .colours = false});
  std::vector<Tensor> shifts;
  for (std::int64_t i = 0; i < lined.height; ++i) shifts.push_back(torch::eye(lined.width).roll(i, 0));
  block.set(torch::stack(shifts).unsqueeze(0), 0.5);
  block.to(torch::kFloat64);
  const auto x = random_picture(1), y = block.forward(x);
  for (std::int64_t i = 0; i < lined.height; ++i) EXPECT_THAT(y.select(2, i), TensorNear(x.select(2, i).roll(i, -1), 1e-6)) << i;
  EXPECT_THAT(block.pinv(y), TensorNear(x, 1e-12));
}

TEST(LineMap, TakesTheMatricesItIsGivenWhereTheirGainsAreWithinBounds) {
  for (const auto axis : {Axis::rows, Axis::columns}) {
    LineMap block({.in = lined, .axis = axis, .gain_bound = 3});
    block.to(torch::kFloat64);
    const auto n = block.length();
    const auto W = torch::eye(n, torch::kFloat64) + 0.1 * Rng(2).randn({2, block.lines(), n, n}, torch::kFloat64);
    block.set(W, 1e-3);
    const auto x = random_picture(3);
    const auto expected = axis == Axis::rows ? torch::einsum("cijk,bcik->bcij", {W, x}) : torch::einsum("cjik,bckj->bcij", {W, x});
    EXPECT_THAT(block.forward(x), TensorNear(expected, 1e-9));
  }
}

TEST(LineMap, OfASingularMatrixLosesNothingAndMagnifiesWithinItsBound) {
  LineMap block({.in = lined, .axis = Axis::rows, .colours = false});
  block.to(torch::kFloat64);
  auto W = torch::eye(lined.width, torch::kFloat64).expand({1, lined.height, lined.width, lined.width}).clone();
  W.slice(2, 4) = 0;   // the last two pixels of a row are lost
  constexpr double least = 0.25;
  block.set(W, least);
  const auto x = random_picture(1), y = block.forward(x);
  EXPECT_THAT(y.slice(3, 0, 4), TensorNear(x.slice(3, 0, 4), 1e-9)) << "what the matrix keeps is as it says";
  EXPECT_THAT(block.pinv(y), TensorNear(x, 1e-9)) << "and nothing is lost";
  const auto e = random_picture(2);
  EXPECT_LE((block.pinv(y + e) - x).norm().item<double>(), e.norm().item<double>() / least * (1 + 1e-9));
}

TEST(LineMap, StartsAtTheBestMatrixForPairs) {
  LineMap block({.in = lined, .axis = Axis::columns, .colours = true, .gain_bound = 3});
  block.to(torch::kFloat64);
  const auto n = block.length();
  const auto I = torch::eye(n, torch::kFloat64).expand({2, lined.width, n, n});
  const auto W = I + 0.2 * Rng(2).randn({2, lined.width, n, n}, torch::kFloat64);
  const auto x = random_picture(3, 400), held_out = random_picture(4);
  const auto D = [&](const Tensor& p) { return torch::einsum("cjik,bckj->bcij", {W, p}) + 0.3; };
  block.start_at(x, D(x), I, 1e-9, 1e-3);
  EXPECT_THAT(block.forward(held_out), TensorNear(D(held_out), 1e-6)) << "the shift too";
  block.start_at(x, D(x), I, 1e9, 1e-3);
  EXPECT_THAT(block.forward(x - x.mean(0)) - block.forward(torch::zeros_like(x)), TensorNear(x - x.mean(0), 1e-6)) << "pairs that weigh nothing leave `near`";
}

TEST(LineMap, GradientsOfGainsAndShiftMatchFiniteDifferences) {
  LineMap block({.in = lined, .axis = Axis::rows});
  block.set(Rng(5).randn({2, lined.height, lined.width, lined.width}), 0.3);
  block.to(torch::kFloat64);
  const auto x = random_picture(1);
  for (const auto& name : {"gains", "shift"}) {
    auto weight = *block.named_parameters().find(name);
    const auto loss = [&] { return block.forward(x).square().sum() + block.pinv(x).square().sum(); };
    const auto gradient = torch::autograd::grad({loss()}, {weight})[0];
    const torch::NoGradGuard no_grad;
    auto entry = weight.view(-1)[3];
    constexpr double h = 1e-5;
    entry += h;
    const auto above = loss().item<double>();
    entry -= 2 * h;
    const auto below = loss().item<double>();
    entry += h;
    EXPECT_NEAR(gradient.view(-1)[3].item<double>(), (above - below) / (2 * h), 1e-4) << name;
  }
}

TEST(LineMap, RefusesMatricesThatAreNoneOfIts) {
  LineMap block({.in = lined});
  EXPECT_EQ(testing::refusal([&] { block.set(torch::zeros({2, 3, 5, 5}), 0.5); }), "LineMap::set: expected matrices [2, 3, 6, 6], got [2, 3, 5, 5]");
  const torch::NoGradGuard no_grad;
  block.named_buffers()["U"].mul_(1.5);   // a damaged file
  EXPECT_EQ(testing::refusal([&] { block.forward(torch::zeros(lined.batched(1))); }), "LineMap: expected orthogonal matrices U and V, got ones off by 1.2");
}

}  // namespace
}  // namespace spnn
