#include <gtest/gtest.h>
#include <spnn/blocks/affine_surjection.h>
#include <spnn/blocks/cayley_mix.h>
#include <spnn/blocks/coupling.h>
#include <spnn/blocks/curve.h>
#include <spnn/blocks/householder_mix.h>
#include <spnn/blocks/lapped_unshuffle.h>
#include <spnn/blocks/line_map.h>
#include <spnn/blocks/pixel_unshuffle.h>

#include <functional>

#include "support/laws.h"
#include "support/random_fill.h"
#include "support/simple_subnet.h"

namespace spnn {
namespace {

using testing::SimpleSubnet;

constexpr Shape in{6, 4, 3};

std::shared_ptr<OrthogonalMix> cayley() { return std::make_shared<CayleyMix>(CayleyMixConfig{.channels = 6}); }
std::shared_ptr<OrthogonalMix> householder() {
  return std::make_shared<HouseholderMix>(HouseholderMixConfig{.channels = 6, .reflections = 3});
}
std::shared_ptr<Subnet> net(std::int64_t from, std::int64_t to) { return std::make_shared<SimpleSubnet>(from, to); }

struct Case {
  const char* name;
  std::function<std::shared_ptr<Block>()> make;
};

std::shared_ptr<Block> surjection(std::shared_ptr<OrthogonalMix> mix, CouplingNets nets) {
  return std::make_shared<AffineSurjection>(AffineSurjectionConfig{.in = in, .out_channels = 2}, std::move(mix),
                                            std::move(nets), net(2, 4));
}

CouplingNets apart() { return {.s = net(4, 2), .t = net(4, 2), .st = nullptr}; }
CouplingNets shared() { return {.s = nullptr, .t = nullptr, .st = net(4, 4)}; }

// Matrices in float, as files have them.
std::shared_ptr<Block> lines(LineMapConfig::Axis axis, bool colours) {
  auto block = std::make_shared<LineMap>(LineMapConfig{.in = in, .axis = axis, .colours = colours, .gain_bound = 1});
  block->set(Rng(5).randn({block->sets(), block->lines(), block->length(), block->length()}), 0.5);
  return block;
}

const std::vector<Case> cases = {
    {"PixelUnshuffle2x3", [] { return std::make_shared<PixelUnshuffle>(PixelUnshuffleConfig{in, 2, 3}); }},
    {"PixelUnshuffle4x1", [] { return std::make_shared<PixelUnshuffle>(PixelUnshuffleConfig{in, 4, 1}); }},
    {"LappedUnshuffle2", [] { return std::make_shared<LappedUnshuffle>(LappedUnshuffleConfig{.in = {6, 4, 8}, .factor = 2}); }},
    {"LappedUnshuffle4", [] { return std::make_shared<LappedUnshuffle>(LappedUnshuffleConfig{.in = {3, 16, 12}, .factor = 4, .colour = true}); }},
    {"LappedUnshuffle6", [] { return std::make_shared<LappedUnshuffle>(LappedUnshuffleConfig{.in = {1, 12, 6}, .factor = 6}); }},
    {"Curve", [] { return std::make_shared<Curve>(CurveConfig{.in = in, .pieces = 5}); }},
    {"LineMapRows", [] { return lines(LineMapConfig::Axis::rows, /*colours=*/true); }},
    {"LineMapColumns", [] { return lines(LineMapConfig::Axis::columns, /*colours=*/true); }},
    {"LineMapShared", [] { return lines(LineMapConfig::Axis::columns, /*colours=*/false); }},
    {"AffineSurjectionCayley", [] { return surjection(cayley(), apart()); }},
    {"AffineSurjectionHouseholder", [] { return surjection(householder(), apart()); }},
    {"AffineSurjectionSharedTrunk", [] { return surjection(cayley(), shared()); }},
    {"AffineCoupling",
     [] { return std::make_shared<AffineCoupling>(CouplingConfig{.in = in, .moved_channels = 2}, cayley(), apart()); }},
    {"AdditiveCoupling",
     [] {
       return std::make_shared<AdditiveCoupling>(CouplingConfig{.in = in, .moved_channels = 2}, householder(), net(4, 2));
     }},
};

class BlockLaws : public ::testing::TestWithParam<Case> {};

TEST_P(BlockLaws, HoldInDoubleAndFloat) {
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    const auto block = GetParam().make();
    testing::fill_randomly(*block, 1);
    block->to(type);
    const auto x = Rng(2).randn(block->in_shape().batched(3), type);
    const auto y = Rng(3).randn(block->out_shape().batched(3), type);
    testing::expect_laws(*block, x, y, testing::tolerance_of(type));
    EXPECT_EQ(block->complete(x).z.size(), block->discards() ? 1U : 0U);
  }
}

TEST_P(BlockLaws, TheInverseOfABijectionIsTheInverse) {
  const auto block = GetParam().make();
  if (block->discards()) GTEST_SKIP() << "a surjection has many right inverses";
  testing::fill_randomly(*block, 1);
  block->to(torch::kFloat64);
  const auto x = Rng(2).randn(block->in_shape().batched(2), torch::kFloat64);
  EXPECT_THAT(block->pinv(block->forward(x)), testing::TensorNear(x, 1e-9));
}

INSTANTIATE_TEST_SUITE_P(EveryBlock, BlockLaws, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PixelUnshuffle, OrdersChannelsAsTorchDoes) {
  const auto x = Rng(1).randn({2, 3, 8, 12});
  const PixelUnshuffle block({.in = {3, 8, 12}, .factor_h = 4, .factor_w = 4});
  EXPECT_TRUE(torch::equal(block.forward(x), torch::pixel_unshuffle(x, 4)));
}

TEST(PixelUnshuffle, RefusesSizesItDoesNotDivide) {
  try {
    PixelUnshuffle({.in = {3, 8, 9}, .factor_h = 2, .factor_w = 2});
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "PixelUnshuffle: expected a height and width that 2×2 divides, got 3×8×9");
  }
}

TEST(AffineSurjection, RefusesInputsOfAnotherShape) {
  const auto block = surjection(cayley(), apart());
  try {
    (void)block->forward(torch::zeros({1, 6, 4, 4}));
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "AffineSurjection: expected a batch of 6×4×3, got [1, 6, 4, 4]");
  }
}

TEST(AffineSurjection, KeepsTheScaleWithinItsBound) {
  const auto block = surjection(cayley(), apart());
  testing::fill_randomly(*block, 1);
  const torch::NoGradGuard no_grad;
  for (auto& item : block->named_parameters()) {
    if (item.key().starts_with("s.")) item.value().mul_(1000);
    if (item.key().starts_with("t.")) item.value().zero_();
  }
  const auto x = Rng(1).randn(in.batched(4));
  const auto u0 = dynamic_cast<AffineSurjection&>(*block).mix().forward(x).narrow(1, 0, 2);
  const auto ratio = (block->forward(x) / u0).abs();
  EXPECT_LE(ratio.max().item<double>(), std::exp(2.0) * 1.001);
  EXPECT_GE(ratio.min().item<double>(), std::exp(-2.0) * 0.999);
}

}  // namespace
}  // namespace spnn
