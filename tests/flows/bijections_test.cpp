#include <gtest/gtest.h>
#include <spnn/blocks/cayley_mix.h>
#include <spnn/blocks/householder_mix.h>
#include <spnn/flows/act_norm.h>
#include <spnn/flows/affine_coupling_layer.h>
#include <spnn/flows/channel_mix.h>
#include <spnn/flows/spline_coupling_layer.h>
#include <spnn/flows/squeeze.h>

#include "flows/jacobian.h"
#include "support/laws.h"
#include "support/random_fill.h"
#include "support/simple_subnet.h"

namespace spnn {
namespace {

using testing::SimpleSubnet;
using testing::TensorNear;

constexpr Shape in{5, 4, 2};   // odd: the two halves of a coupling differ

struct Case {
  const char* name;
  std::function<std::shared_ptr<FlowLayer>()> make;
};

std::shared_ptr<Subnet> coupling_net(bool moves_first, std::int64_t per_channel) {
  const auto moved = CouplingLayer::moved(in.channels, moves_first);
  return std::make_shared<SimpleSubnet>(in.channels - moved, per_channel * moved);
}

std::shared_ptr<FlowLayer> additive(bool moves_first) {
  return std::make_shared<AdditiveCouplingLayer>(CouplingLayerConfig{in, moves_first}, coupling_net(moves_first, 1));
}

std::shared_ptr<FlowLayer> affine(bool moves_first) {
  return std::make_shared<AffineCouplingLayer>(CouplingLayerConfig{in, moves_first}, 2.0, coupling_net(moves_first, 2));
}

// A bound of 1: a third of the values lie beyond it.
std::shared_ptr<FlowLayer> spline(bool moves_first, const SplineShape& shape = {.pieces = 8, .bound = 1}) {
  return std::make_shared<SplineCouplingLayer>(CouplingLayerConfig{in, moves_first}, shape,
                                          coupling_net(moves_first, SplineCouplingLayer::outputs_per_channel(shape)));
}

std::shared_ptr<FlowLayer> orthogonal(std::shared_ptr<OrthogonalMix> mix) {
  return std::make_shared<OrthogonalMixLayer>(in, std::move(mix));
}

const std::vector<Case> cases = {
    {"AdditiveFirst", [] { return additive(true); }},
    {"AdditiveSecond", [] { return additive(false); }},
    {"AffineFirst", [] { return affine(true); }},
    {"AffineSecond", [] { return affine(false); }},
    {"SplineFirst", [] { return spline(true); }},
    {"SplineSecond", [] { return spline(false, {.pieces = 3, .bound = 2.5}); }},
    {"ActNorm", [] { return std::make_shared<ActNorm>(ActNormConfig{.in = in}); }},
    {"ActNormPerPosition", [] { return std::make_shared<ActNorm>(ActNormConfig{.in = in, .per_position = true}); }},
    {"Cayley", [] { return orthogonal(std::make_shared<CayleyMix>(CayleyMixConfig{.channels = 5})); }},
    {"Householder",
     [] { return orthogonal(std::make_shared<HouseholderMix>(HouseholderMixConfig{.channels = 5, .reflections = 3})); }},
    {"Lu", [] { return std::make_shared<LuMixLayer>(in, Rng(3)); }},
    {"Squeeze", [] { return std::make_shared<Squeeze>(PixelUnshuffleConfig{in, 2, 1}); }},
};

class Bijections : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<FlowLayer> make(torch::Dtype type) const {
    auto layer = GetParam().make();
    testing::fill_randomly(*layer, 1);
    layer->to(type);
    return layer;
  }
};

TEST_P(Bijections, ObeyTheLawsOfABlock) {
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    const auto layer = make(type);
    const auto x = Rng(2).randn(layer->in_shape().batched(3), type);
    const auto y = Rng(3).randn(layer->out_shape().batched(3), type);
    testing::expect_laws(*layer, x, y, testing::tolerance_of(type));
    EXPECT_THAT(layer->pinv(layer->forward(x)), TensorNear(x, testing::tolerance_of(type)));
  }
}

TEST_P(Bijections, LogDeterminantIsThatOfTheFullJacobian) {
  const auto layer = make(torch::kFloat64);
  const auto x = Rng(4).randn(layer->in_shape().batched(3), torch::kFloat64);
  const auto log_p = layer->observe(x).log_p;
  ASSERT_EQ(log_p.sizes(), torch::IntArrayRef({3}));
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto J = testing::jacobian([&](const Tensor& v) { return layer->forward(v); }, x.narrow(0, i, 1));
    EXPECT_NEAR(log_p[i].item<double>(), testing::log_abs_det(J), 1e-9) << "image " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBijection, Bijections, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ActNorm, FirstBatchComesOutStandardised) {
  for (const bool per_position : {false, true}) {
    ActNorm layer({.in = in, .per_position = per_position});
    const auto x = 3 + 5 * Rng(1).randn(in.batched(50));
    layer.start_from_data(x);
    const auto y = layer.forward(x);
    const std::vector<std::int64_t> over = per_position ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{0, 2, 3};
    EXPECT_LE(y.mean(over).abs().max().item<double>(), 1e-5);
    EXPECT_LE((y.var(over, /*unbiased=*/false) - 1).abs().max().item<double>(), 1e-5);
  }
}

TEST(CouplingLayer, AnAdditiveOneKeepsVolumeAndAnAffineOneIsBounded) {
  const auto x = Rng(2).randn(in.batched(2), torch::kFloat64);
  const auto shifts = additive(true), scales = affine(true);
  for (const auto& layer : {shifts, scales}) {
    testing::fill_randomly(*layer, 1);
    layer->to(torch::kFloat64);
  }
  EXPECT_THAT(shifts->observe(x).log_p, TensorNear(torch::zeros({2}), 0.0));
  const torch::NoGradGuard no_grad;
  for (auto& value : scales->parameters()) value.mul_(100);
  const auto moved = CouplingLayer::moved(in.channels, true) * in.height * in.width;
  const auto extreme = scales->observe(x).log_p.abs().max().item<double>();
  EXPECT_LE(extreme, 2.0 * static_cast<double>(moved) + 1e-9);
  EXPECT_GT(extreme, 0.1);
}

TEST(SplineCouplingLayer, OfAZeroNetIsTheIdentity) {
  const auto layer = spline(true);
  layer->to(torch::kFloat64);
  const torch::NoGradGuard no_grad;
  for (auto& value : layer->parameters()) value.zero_();
  const auto x = 2 * Rng(2).randn(in.batched(2), torch::kFloat64);
  const auto [yz, log_p] = layer->observe(x);
  EXPECT_THAT(yz.y, TensorNear(x, 1e-12));
  EXPECT_THAT(log_p, TensorNear(torch::zeros({2}), 1e-12));
}

TEST(SplineCouplingLayer, MovesInsideItsBoundAndNothingBeyond) {
  const auto layer = spline(true);
  testing::fill_randomly(*layer, 1);
  layer->to(torch::kFloat64);
  const torch::NoGradGuard no_grad;
  const auto x = Rng(2).randn(in.batched(8), torch::kFloat64);
  const auto beyond = x.abs().gt(1), change = (layer->forward(x) - x).abs();
  EXPECT_LE(change.masked_select(beyond).max().item<double>(), 1e-12);
  EXPECT_GT(change.max().item<double>(), 0.01);
}

TEST(LuMixLayer, StartsAsAPermutation) {
  const LuMixLayer layer(in, Rng(7));
  const auto W = layer.matrix();
  EXPECT_THAT(W.mm(W.t()), TensorNear(torch::eye(5), 0.0));
  EXPECT_THAT(W.sum(0), TensorNear(torch::ones({5}), 0.0));
}

}  // namespace
}  // namespace spnn
