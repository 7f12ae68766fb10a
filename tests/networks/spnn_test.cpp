#include <gtest/gtest.h>
#include <spnn/layers/init.h>
#include <spnn/networks/presets.h>
#include <spnn/networks/spnn.h>

#include <algorithm>

#include "support/laws.h"

namespace spnn {
namespace {

using testing::TensorNear;

SpnnConfig mixed_stack() {
  return spnn_from_json(Json::parse(R"({
    "name": "mixed", "input": [3, 8, 12],
    "blocks": [
      {"kind": "unshuffle", "factor": [2, 3]},
      {"kind": "affine", "mix": {"kind": "householder", "reflections": 4},
       "st": {"kind": "residual", "hidden": 8, "depth": 2, "norm": true, "activation": "silu"}},
      {"kind": "surjection", "out": 7, "s": {"hidden": 8}, "t": {"hidden": 6, "depth": 2, "output": "tanh"},
       "r": {"kind": "residual", "hidden": 8, "depth": 1}},
      {"kind": "additive", "moved": 3, "t": {"hidden": 4}},
      {"kind": "unshuffle", "factor": 2},
      {"kind": "surjection", "out": 5, "st": {"hidden": 16, "kernel": 1}, "r": {"hidden": 16}},
      {"kind": "lines", "axis": "columns", "colours": false, "gain_bound": 1.0},
      {"kind": "affine", "s": {"hidden": 4}, "t": {"hidden": 4}}
    ]})"));
}

SpnnConfig vector_stack() {
  return spnn_from_json(Json::parse(R"({
    "name": "vectors", "input": [20],
    "blocks": [
      {"kind": "surjection", "out": 9, "st": {"hidden": 16, "kernel": 1}, "r": {"hidden": 16, "kernel": 1}},
      {"kind": "surjection", "out": 3, "st": {"hidden": 16, "kernel": 1}, "r": {"hidden": 16, "kernel": 1}}
    ]})"));
}

Tensor random_batch(const Shape& shape, std::int64_t batch, std::uint64_t seed, torch::Dtype type) {
  const auto x = Rng(seed).randn(shape.batched(batch), type);
  return shape.height * shape.width == 1 ? x.flatten(1) : x;
}

void expect_network_laws(const SpnnConfig& config, std::int64_t batch) {
  Spnn net(config);
  randomise_spnn(net, Rng(4));
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    net.to(type);
    testing::expect_laws(net, 0.5 * random_batch(net.in_shape(), batch, 1, type),
                         random_batch(net.out_shape(), batch, 2, type), testing::tolerance_of(type));
  }
}

TEST(Spnn, MixedStacksObeyTheLaws) { expect_network_laws(mixed_stack(), 3); }

TEST(Spnn, VectorsGoThroughPointwiseNetworks) {
  expect_network_laws(vector_stack(), 5);
  Spnn net(vector_stack());
  randomise_spnn(net, Rng(1));
  EXPECT_EQ(net.forward(torch::zeros({4, 20})).sizes(), (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(net.pinv(torch::zeros({4, 3})).sizes(), (std::vector<std::int64_t>{4, 20}));
}

TEST(SpnnConfig, WithOutputsCountsThePlacesOfAMapThatIsFoldedAtTheEnd) {
  const auto map = spnn_from_json(Json::parse(R"({"name": "map", "input": [1, 8, 8], "blocks": [
      {"kind": "unshuffle", "factor": 2}, {"kind": "surjection", "out": 2, "st": {"hidden": 4}, "r": {"hidden": 4}}, {"kind": "unshuffle", "factor": 4}]})"));
  EXPECT_EQ(Spnn(with_outputs(map, 48)).out_shape(), (Shape{48, 1, 1}));
  EXPECT_THROW(with_outputs(map, 50), Error) << "16 places";
}

// Places stay places: what docs/detection.md asks of a cell is asked of that cell of the heat map.
TEST(Spnn, TheDetectorOfCanvasesFoldsItsHeatMapPlaceByPlace) {
  const auto config = read_config(std::string(SPNN_SOURCE_DIR) + "/configs/detector-canvases.toml").at("network");
  expect_network_laws(spnn_from_json(config), 1);
  Spnn net(spnn_from_json(config));
  randomise_spnn(net, Rng(4));
  const auto trace = net.trace(0.5 * random_batch(net.in_shape(), 2, 1, torch::kFloat32));
  ASSERT_EQ(trace.levels.back().y.sizes(), (std::vector<std::int64_t>{2, 7, 4, 4}));
  EXPECT_TRUE(trace.y.flatten(1).equal(trace.levels.back().y.flatten(1)));
}

// An encoder with g† as its decoder: a latent is what its picture is encoded as, however often (docs/latent.md).
TEST(Spnn, AMapOfLatentsComesBackFromItsPictureAfterAnyNumberOfCycles) {
  Spnn net(spnn_from_json(Json::parse(R"({"name": "latent", "input": [3, 32, 32], "blocks": [
      {"kind": "lapped", "factor": 4, "colour": true}, {"kind": "surjection", "out": 24, "st": {"hidden": 8}, "r": {"hidden": 8}},
      {"kind": "lapped", "factor": 2}, {"kind": "surjection", "out": 12, "st": {"hidden": 8}, "r": {"hidden": 8}}]})")));
  randomise_spnn(net, Rng(3));
  net.to(torch::kFloat64);
  const auto z = random_batch(net.out_shape(), 2, 5, torch::kFloat64);
  auto again = z;
  for (int cycle = 0; cycle < 20; ++cycle) again = net.forward(net.pinv(again));
  EXPECT_THAT(again, TensorNear(z, 1e-9));
}

class EveryPreset : public ::testing::TestWithParam<std::string_view> {
 protected:
  static void expect_laws_of(const SpnnConfig& config, torch::Dtype type) {
    Spnn net(config);
    randomise_spnn(net, Rng(4));
    net.to(type);
    const std::int64_t batch = net.in_shape().size() > 3 * 64 * 64 ? 1 : 2;
    testing::expect_laws(net, 0.5 * random_batch(net.in_shape(), batch, 1, type),
                         random_batch(net.out_shape(), batch, 2, type), testing::tolerance_of(type));
  }
};

TEST_P(EveryPreset, ObeysTheLawsInFloat) { expect_laws_of(spnn_preset(GetParam()), torch::kFloat32); }

// ε = 1e-6 makes the reference's U orthogonal to 2e-6 only: without it these networks are as exact as ours.
TEST_P(EveryPreset, ObeysTheLawsInDoubleWithoutEpsilon) {
  auto config = spnn_preset(GetParam());
  for (auto& block : config.blocks) {
    if (auto* surjection = std::get_if<SurjectionBlockConfig>(&block)) surjection->mix.epsilon = 0;
  }
  expect_laws_of(config, torch::kFloat64);
}

INSTANTIATE_TEST_SUITE_P(Presets, EveryPreset, ::testing::ValuesIn(spnn_preset_names().begin(), spnn_preset_names().end()),
                         [](const auto& info) {
                           std::string name(info.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Spnn, PresetsHaveTheirPublishedSizes) {
  EXPECT_EQ(parameter_count(Spnn(spnn_preset("reference-32"))), 71'047'608);
  EXPECT_EQ(parameter_count(Spnn(spnn_preset("reference-64"))), 72'358'599);
  EXPECT_LE(parameter_count(Spnn(spnn_preset("celebahq64"))), 5'200'000);
  EXPECT_LE(parameter_count(Spnn(spnn_preset("celebahq64-natural"))), 8'000'000);
  EXPECT_LE(parameter_count(Spnn(spnn_preset("fashion"))), 1'200'000);
}

TEST(Spnn, PresetsTakeAnyNumberOfOutputs) {
  EXPECT_EQ(Spnn(spnn_preset("celebahq64", 5)).out_shape(), (Shape{5, 1, 1}));
  EXPECT_EQ(Spnn(spnn_preset("fashion", 3)).out_shape(), (Shape{3, 1, 1}));
}

TEST(Spnn, StartsAsAnOrthogonalProjection) {
  Spnn net(spnn_preset("fashion"));
  initialise_spnn(net, Rng(1));
  const torch::NoGradGuard no_grad;
  const auto x = Rng(2).randn({2, 1, 32, 32});
  const auto y = net.forward(x);
  EXPECT_THAT(net.forward(net.pinv(y)), TensorNear(y, 1e-6));
  EXPECT_NEAR(net.pinv(y).norm().item<double>(), y.norm().item<double>(), 1e-4) << "r = 0: nothing is added";
  for (const auto& z : net.complete(net.pinv(y)).z) EXPECT_EQ(z.abs().max().item<double>(), 0.0);
}

TEST(Spnn, InitialisationDependsOnTheSeedOnly) {
  Spnn a(spnn_preset("fashion")), b(spnn_preset("fashion")), c(spnn_preset("fashion"));
  initialise_spnn(a, Rng(1));
  initialise_spnn(b, Rng(1));
  initialise_spnn(c, Rng(2));
  const auto name = "pinn.blocks.1.st.net.first.weight";
  EXPECT_TRUE(torch::equal(a.named_parameters()[name], b.named_parameters()[name]));
  EXPECT_FALSE(torch::equal(a.named_parameters()[name], c.named_parameters()[name]));
}

TEST(Spnn, TheTraceHoldsWhatEachLevelSaw) {
  Spnn net(mixed_stack());
  randomise_spnn(net, Rng(4));
  const torch::NoGradGuard no_grad;
  const auto x = Rng(1).randn({2, 3, 8, 12});
  const auto trace = net.trace(x);
  ASSERT_EQ(trace.levels.size(), net.level_count());
  const auto rebuilt = net.descend(trace.y, [&](std::size_t l, const Tensor& y_l) {
    EXPECT_THAT(y_l, TensorNear(trace.levels[l].y, 1e-5));
    return trace.levels[l].z;
  });
  EXPECT_THAT(rebuilt, TensorNear(x, 1e-4));
}

TEST(Spnn, FurtherSetsOfRAreNamedParameters) {
  Spnn net(vector_stack());
  const auto before = net.g_parameters().size();
  net.add_r_set("min_norm", Rng(3));
  EXPECT_TRUE(net.named_parameters().contains("pinn.blocks.1.r_min_norm.net.0.weight"));
  EXPECT_EQ(net.g_parameters().size(), before);
  EXPECT_EQ(net.r_parameters("min_norm").size(), net.r_parameters().size());
  const Spnn rebuilt(spnn_from_json(to_json(net.config())));
  EXPECT_TRUE(rebuilt.has_r_set("min_norm"));
  EXPECT_EQ(rebuilt.named_parameters().keys(), net.named_parameters().keys());
}

TEST(SpnnConfig, SurvivesJson) {
  EXPECT_EQ(spnn_from_json(to_json(mixed_stack())), mixed_stack());
  for (const auto name : spnn_preset_names()) {
    EXPECT_EQ(spnn_from_json(to_json(spnn_preset(name))), spnn_preset(name)) << name;
  }
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(SpnnConfig, MistakesAreNamed) {
  auto json = to_json(mixed_stack());
  json["blocks"][2]["outt"] = 3;
  EXPECT_EQ(error_of([&] { spnn_from_json(json); }), "architecture.blocks[2]: expected one of kind, mix, out, r, s, scale_bound, t, got 'outt'");
  json = to_json(mixed_stack());
  json["blocks"][2]["s"]["kind"] = "transformer";
  EXPECT_EQ(error_of([&] { spnn_from_json(json); }),
            "architecture.blocks[2].s.kind: expected one of sequential, conv, residual, got 'transformer'");
  json = to_json(mixed_stack());
  json["blocks"][2]["out"] = 99;
  EXPECT_EQ(error_of([&] { Spnn net(spnn_from_json(json)); }),
            "block 2: expected a split of 18×4×4 into two parts, got 99 channels");
  EXPECT_THAT(error_of([] { spnn_preset("nope"); }), ::testing::HasSubstr("expected one of reference-32"));
}

TEST(SpnnConfig, SubnetShapesAreCheckedWhenTheNetworkIsBuilt) {
  auto json = to_json(vector_stack());
  json["blocks"][0]["r"] = {{"kind", "sequential"}, {"layers", {{{"out", 5}}, {{"out", 4}}}}};
  EXPECT_EQ(error_of([&] { Spnn net(spnn_from_json(json)); }),
            "block 0 r: expected an output of 11×1×1, got 4×1×1");
}

}  // namespace
}  // namespace spnn
