#include <gtest/gtest.h>
#include <spnn/flows/dequantise.h>
#include <spnn/flows/flow.h>

#include "flows/jacobian.h"
#include "support/laws.h"
#include "support/random_fill.h"

namespace spnn {
namespace {

using testing::TensorNear;

FlowConfig small(const std::string& preset, const Json& more = Json::object()) {
  Json json{{"preset", preset}, {"input", {1, 4, 4}}, {"steps", {2, 2}}, {"hidden", {4, 4}}};
  json.update(more);
  return json.get<FlowConfig>();
}

std::shared_ptr<Flow> random_flow(const FlowConfig& config) {
  auto flow = std::make_shared<Flow>(config);
  testing::fill_randomly(*flow, 1);
  flow->to(torch::kFloat64);
  return flow;
}

const std::vector<FlowConfig> configs = {
    small("nice"), small("realnvp"), small("glow"), small("glow", {{"mix", "cayley"}}),
    small("glow", {{"mix", "householder"}, {"coupling", "additive"}}), small("survae-maxpool"),
    small("spline", {{"spline_pieces", 5}, {"spline_bound", 2.0}})};

TEST(Flow, EveryPresetRoundTrips) {
  const torch::NoGradGuard no_grad;
  for (const auto& config : configs) {
    const auto flow = random_flow(config);
    const auto x = Rng(2).uniform({3, 1, 4, 4}, torch::kFloat64) - 0.5;
    EXPECT_THAT(flow->invert(flow->observe(x).yz), TensorNear(x, 1e-9)) << config.name;
    const auto drawn = flow->draw({.rng = Rng(3), .count = 3});
    const auto again = flow->observe(flow->invert(drawn)).yz;
    EXPECT_THAT(again.y, TensorNear(drawn.y, 1e-8)) << config.name;
    for (std::size_t l = 0; l < drawn.z.size(); ++l) EXPECT_THAT(again.z[l], TensorNear(drawn.z[l], 1e-8)) << config.name;
  }
}

TEST(Flow, LikelihoodOfAChainOfBijectionsAndSlicesIsThatOfItsJacobian) {
  for (const auto& config : configs) {
    if (config.between == FlowConfig::Between::max_pool) continue;   // its z is no coordinate of a bijection
    const auto flow = random_flow(config);
    const auto x = Rng(2).uniform({1, 1, 4, 4}, torch::kFloat64) - 0.5;
    const auto latent = [&](const Tensor& v) {
      const auto yz = flow->observe(v).yz;
      std::vector<Tensor> parts{yz.y.flatten(1)};
      for (const auto& z : yz.z) parts.push_back(z.flatten(1));
      return torch::cat(parts, 1);
    };
    const double expected = standard_normal_log_p(latent(x)).item<double>() + testing::log_abs_det(testing::jacobian(latent, x));
    EXPECT_NEAR(flow->log_p(x).item<double>(), expected, 1e-8) << config.name;
  }
}

TEST(Flow, ImageIOfASeedIsTheSameInEveryBatch) {
  const torch::NoGradGuard no_grad;
  for (const auto& config : configs) {
    const auto flow = random_flow(config);
    const auto all = flow->sample({.rng = Rng(3), .count = 4, .temperature = 0.7});
    const auto last = flow->sample({.rng = Rng(3), .count = 1, .first = 3, .temperature = 0.7});
    EXPECT_THAT(last[0], TensorNear(all[3], 1e-12)) << config.name;
  }
}

TEST(Flow, TheAugmentedOneNeedsNoiseAndItsBoundIsBelowManyDrawsOfItself) {
  const auto flow = random_flow(small("glow", {{"augment", 2}}));
  const torch::NoGradGuard no_grad;
  const auto x = Rng(2).uniform({1, 1, 4, 4}, torch::kFloat64) - 0.5;
  EXPECT_THROW(flow->log_p(x), std::exception);
  const std::int64_t n = 4000;
  const auto bounds = flow->log_p(x.expand({n, -1, -1, -1}), flow->noise(n, Rng(4)));
  // log E[w] ≥ E[log w]: the importance-weighted estimate of the exact log p is never below the bound.
  const double tighter = (torch::logsumexp(bounds, 0) - std::log(static_cast<double>(n))).item<double>();
  EXPECT_LT(bounds.mean().item<double>(), tighter);
}

TEST(Flow, StartsFromDataWithUnitDeviation) {
  Flow flow(small("glow"));
  initialise_flow(flow, Rng(1));
  const auto x = 0.1 * Rng(2).randn({256, 1, 4, 4}) + 0.2;
  flow.start_from_data(x);
  const torch::NoGradGuard no_grad;
  const auto latent = flow.observe(x).yz;
  EXPECT_NEAR(latent.y.std().item<double>(), 1, 0.1);
  EXPECT_NEAR(latent.z[0].std().item<double>(), 1, 0.1);
}

TEST(FlowConfig, ComesBackFromJsonAndRefusesUnknownWords) {
  for (const auto& config : configs) EXPECT_EQ(Json(config).get<FlowConfig>(), config);
  try {
    small("glow", {{"mix", "qr"}});
    FAIL() << "no such mix";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "flow.mix: expected one of none, cayley, householder, lu, got 'qr'");
  }
}

TEST(FlowConfig, RefusesUnknownCouplingsAndSplinesOfOnePiece) {
  const auto refused = [](const Json& more) {
    try {
      small("spline", more);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused({{"coupling", "cubic"}}), "flow.coupling: expected one of additive, affine, spline, got 'cubic'");
  EXPECT_EQ(refused({{"spline_pieces", 1}}), "flow: expected spline_pieces of 2 or more and a positive spline_bound, got 1 and 4");
  EXPECT_EQ(refused({{"preset", "planar"}}),
            "flow.preset: expected one of nice, realnvp, glow, survae-maxpool, spline, got 'planar'");
}

TEST(Dequantise, KeepsTheLevelAndCountsTheBits) {
  const auto bytes = torch::arange(256, torch::kUInt8).view({1, 1, 16, 16});
  for (const std::int64_t bits : {8, 5}) {
    const auto x = dequantise(bytes, bits, Rng(1).uniform(bytes.sizes(), torch::kFloat64));
    EXPECT_GE(x.min().item<double>(), -0.5);
    EXPECT_LT(x.max().item<double>(), 0.5);
    const auto levels = torch::floor((x + 0.5) * (1 << bits));
    EXPECT_THAT(levels, TensorNear(Tensor(torch::floor(bytes / (1 << (8 - bits)))), 0.0));
  }
  // The uniform density on [−½, ½) has log p = 0 and costs exactly the bits.
  EXPECT_DOUBLE_EQ(bits_per_dim(torch::zeros({1}, torch::kFloat64), 256, 5).item<double>(), 5);
}

}  // namespace
}  // namespace spnn
