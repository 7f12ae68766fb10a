#include <gtest/gtest.h>
#include <spnn/core/rng.h>
#include <spnn/networks/presets.h>
#include <spnn/projection/spnn_projector.h>
#include <spnn/restoration/spun_move.h>

#include "support/tensor_near.h"

using namespace spnn;
using namespace spnn::testing;

namespace {

SpnnProjector some_network() {
  auto net = std::make_shared<Spnn>(spnn_preset("fashion"));
  randomise_spnn(*net, Rng(1));
  net->to(torch::kFloat64);
  return SpnnProjector(net, {.pseudo_inverse = PseudoInverse::learned, .metric = Metric::residual});
}

Tensor some_photos(std::int64_t count) { return 0.5 * torch::tanh(Rng(2).randn({count, 1, 32, 32}).to(torch::kFloat64)); }

// Output 3 at 2 or more.
Tensor third_up(const Tensor& y) {
  auto out = y.clone();
  out.select(1, 3).clamp_min_(2);
  return out;
}

// y is the mean brightness, read through a chequered board: the nearest image with another y has the board printed on it.
class PrintsABoard final : public BackProjector {
 public:
  PrintsABoard() : row_((1 + 0.8 * board()) / 1024) {}
  static Tensor board() {
    const auto n = torch::arange(32, torch::kFloat64);
    return 1 - 2 * (n.view({32, 1}) + n.view({1, 32})).remainder(2);
  }
  using BackProjector::nlbp;
  Tensor forward(const Tensor& x) const override { return (x * row_).sum({1, 2, 3}).unsqueeze(1); }
  Tensor pinv(const Tensor& y) const override { return y.view({-1, 1, 1, 1}) * row_ / row_.square().sum(); }
  Probe probe(const Tensor& x) const override { return {x, forward(x), {}}; }
  Tensor nlbp(const Probe& p, const Tensor& y, const Tensor& lambda) const override { return p.x + lambda * pinv(y - p.y); }
  Shape in_shape() const override { return {1, 32, 32}; }
  Shape out_shape() const override { return {1, 1, 1}; }

 private:
  Tensor row_;
};

}  // namespace

TEST(SpunMove, MeetsTheWishOfEveryImage) {
  const torch::NoGradGuard no_grad;
  const auto g = some_network();
  const auto moved = spun_move(g, some_photos(6), third_up, {});
  EXPECT_LE(moved.x.abs().max().item<double>(), 1);
  EXPECT_GE(moved.y.select(1, 3).min().item<double>(), 1);   // by half of what was asked, or all of it
}

TEST(SpunMove, LeavesAPhotoThatIsAsAskedToTheBit) {
  const torch::NoGradGuard no_grad;
  const auto g = some_network();
  const auto x = some_photos(4);
  const auto moved = spun_move(g, x, [](const Tensor& y) { return y; }, {});
  EXPECT_TRUE(torch::equal(moved.x, x));
  EXPECT_TRUE(torch::equal(moved.y, g.forward(x)));
}

TEST(SpunMove, AProbabilityIsMetToFivePercent) {
  const torch::NoGradGuard no_grad;
  const auto g = some_network();
  const auto x = 0.2 * some_photos(4);   // far from the borders of [−1, 1], so that nothing is cut off
  const auto number = [](const Tensor& y) {
    auto out = y.clone();
    out.select(1, 3).fill_(0.85);
    return out;
  };
  const auto moved = spun_move(g, x, number, {.graded = true});
  const auto probability = torch::sigmoid(g.forward(moved.x).select(1, 3));
  EXPECT_THAT(probability, TensorNear(torch::full({4}, 0.70, torch::kFloat64), 0.06));
  EXPECT_THAT(moved.y, TensorNear(g.forward(moved.x), 1e-9));
}

TEST(SpunMove, RowsDoNotDependOnTheirBatch) {
  const torch::NoGradGuard no_grad;
  const auto g = some_network();
  const auto x = some_photos(5);
  const auto all = spun_move(g, x, third_up, {}).x, one = spun_move(g, x.narrow(0, 3, 1), third_up, {}).x;
  EXPECT_THAT(all.narrow(0, 3, 1), TensorNear(one, 1e-9));
}

TEST(SpunMove, WhatEveryViewHasElsewhereAveragesOut) {
  const PrintsABoard g;
  const auto x = 0.2 * some_photos(3);
  const Target brighter = [](const Tensor& y) { return y.clamp_min(0.4); };
  const auto printed = [&](const Tensor& moved) { return (moved - x).mul(PrintsABoard::board()).narrow(2, 3, 26).narrow(3, 3, 26).mean().abs().item<double>(); };
  const auto once = printed(g.nlbp(x, brighter(g.forward(x))));
  EXPECT_GT(once, 0.1);
  const auto moved = spun_move(g, x, brighter, {});
  EXPECT_LT(printed(moved.x), 0.01 * once);
  EXPECT_GE(moved.y.min().item<double>(), 0.2);
  EXPECT_THAT(g.forward(moved.x), TensorNear(moved.y, 1e-12));
}

TEST(SpunMove, InAChainAStepMovesTheImagesThatDoNotMeetTheWish) {
  const torch::NoGradGuard no_grad;
  const auto g = some_network();
  const auto x = some_photos(3), moved = spun_move(g, x, third_up, {}).x;
  const auto x0 = torch::cat({x, moved});
  const SamplerStep step{.x0_hat = x0, .x_t = x0, .t = 20, .index = 0, .total = 1};
  const auto after = spun_correction(g, third_up, {})(step);
  EXPECT_TRUE(torch::equal(after.narrow(0, 3, 3), moved)) << "they meet it";
  EXPECT_GT((g.forward(after) - g.forward(x0)).select(1, 3).narrow(0, 0, 3).min().item<double>(), 0);
}
