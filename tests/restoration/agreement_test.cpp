#include <gtest/gtest.h>
#include <spnn/restoration/field.h>
#include <spnn/restoration/trust.h>

#include "support/correlated_prior.h"
#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::CorrelatedPrior;
using testing::refusal;
using testing::TensorNear;

constexpr Shape kMethodShape{1, 8, 8};

class LinearMethods : public ::testing::TestWithParam<const char*> {
 protected:
  LinearMethods() : g(make_degradation({.spec = GetParam()}, kMethodShape)) {
    const auto x = (Rng(7).uniform({3, 1, 8, 8}) * 2 - 1) * 0.8;
    y = g.measure(x, {}, {1, 2, 3});
  }
  Tensor by(const std::string& method, const MethodConfig& config = {.sampler = {.steps = 20}}) {
    return restore_by(method, {.prior = prior, .g = g, .y = y, .seeds = ImageSeeds(4, 3)}, config, silent);
  }

  CorrelatedPrior prior = CorrelatedPrior::smooth(kMethodShape, 0.1, 0.4, 2);
  Degradation g;
  Tensor y;
  Observer silent;
};

TEST_P(LinearMethods, NlbpWithFullStrengthIsDdnm) {
  const auto ddnm = by("ddnm");
  EXPECT_THAT(by("nlbp"), TensorNear(ddnm, 1e-4));
  EXPECT_THAT(by("ddnm+"), TensorNear(ddnm, 1e-4)) << "without noise DDNM+ is DDNM";
  for (const auto kind : {SamplerKind::ddim, SamplerKind::reference}) {
    const MethodConfig config{.sampler = {.kind = kind, .steps = 10, .eta = 0.5, .travel = {.length = 2, .repeat = 2}}};
    EXPECT_THAT(by("nlbp", config), TensorNear(by("ddnm", config), 1e-4));
    EXPECT_THAT(by("ddnm+", config), TensorNear(by("ddnm", config), 1e-4));
  }
}

TEST_P(LinearMethods, BothMetricsOfNlbpAgree) {
  const auto plain = by("nlbp", {.sampler = {.steps = 20}, .lambda = 0.7});
  g = make_degradation({.spec = GetParam(), .metric = Metric::residual}, kMethodShape);
  EXPECT_THAT(by("nlbp", {.sampler = {.steps = 20}, .lambda = 0.7}), TensorNear(plain, 1e-4));
}

TEST_P(LinearMethods, WhatIsSeenIsThatOfThePseudoInverse) {
  const auto seen = by("pinv");
  for (const auto* method : {"nlbp", "nlbp+", "diffpir-nlbp", "ddnm", "ddnm+", "ddrm", "mcg", "repaint"}) {
    const auto x = by(method);
    EXPECT_THAT(g.linear->pinv(g.linear->forward(x)), TensorNear(seen, 2e-4)) << method;
    EXPECT_LT(g.inconsistency(x, y).max().item<double>(), 1e-4) << method;
    EXPECT_GT(testing::largest_difference(x, seen), 0.02) << method << " leaves the rest to the prior";
  }
  EXPECT_THAT(by("ibp", {.iterations = 4000}), TensorNear(seen, 0.02)) << "back-projection converges to A†y from zero";
}

INSTANTIATE_TEST_SUITE_P(Operators, LinearMethods,
                         ::testing::Values("sr4", "bicubic2", "box", "random:0.5", "gauss:sigma=0.8,cut=0.1", "cs:0.25", "gauss:sigma=0.5+sr2"));

class EveryMethod : public ::testing::TestWithParam<MethodInfo> {};

TEST_P(EveryMethod, GivesAnImageTheSameResultInEveryBatch) {
  Observer silent;
  const auto prior = CorrelatedPrior::smooth(kMethodShape, 0, 0.4, 2);
  const auto masks = torch::stack({Rng(1).uniform({1, 8, 8}) < 0.5, Rng(2).uniform({1, 8, 8}) < 0.5, Rng(3).uniform({1, 8, 8}) < 0.5});
  const auto x = Rng(7).uniform({3, 1, 8, 8}) * 2 - 1;
  const auto all = make_degradation({.spec = "mask", .masks = masks}, kMethodShape);
  const auto second = make_degradation({.spec = "mask", .masks = masks.slice(0, 1, 2)}, kMethodShape);
  const auto noise = noise_from("0.05");
  const MethodConfig config{.sampler = {.steps = 8}};
  const auto y = all.measure(x, noise, {10, 11, 12});
  const auto batch = restore_by(GetParam().name, {.prior = prior, .g = all, .y = y, .sigma_y = 0.1, .seeds = ImageSeeds(10, 3)}, config, silent);
  const auto alone = restore_by(GetParam().name,
                                {.prior = prior, .g = second, .y = second.measure(x.slice(0, 1, 2), noise, {11}), .sigma_y = 0.1, .seeds = ImageSeeds(11, 1)},
                                config, silent);
  EXPECT_THAT(batch.slice(0, 1, 2), TensorNear(alone, 1e-5));
}

// Where nothing is known but the noise, what is estimated from y is estimated image by image.
TEST(Trust, LooksAtOneImageOnly) {
  const auto prior = CorrelatedPrior::smooth(kMethodShape, 0, 0.4, 2);
  auto g = make_degradation({.spec = "sr2"}, kMethodShape);
  g.linear = g.A = nullptr;   // as a network is
  const auto y = Rng(4).randn({3, 1, 4, 4}) * torch::tensor({0.3, 0.6, 3.0}).view({3, 1, 1, 1}), at = torch::zeros_like(y);
  const auto target = [&](const Tensor& of, const Tensor& from) {
    return field::Trust({.prior = prior, .g = g, .y = of, .sigma_y = 0.2, .seeds = ImageSeeds(0, of.size(0))}, false).target(from, 0.5);
  };
  EXPECT_THAT(target(y, at).slice(0, 1, 2), TensorNear(target(y.slice(0, 1, 2), at.slice(0, 1, 2)), 1e-6));
}

TEST_P(EveryMethod, TakesNonLinearOperatorsOrSaysWhichWould) {
  Observer silent;
  const auto prior = CorrelatedPrior::smooth(kMethodShape, 0, 0.3, 2);
  const auto g = make_degradation({.spec = "gamma+sr2"}, kMethodShape);
  const auto wave = torch::linspace(-1, 1, 8);   // an image that the prior can make
  const auto x = (wave.unsqueeze(0) * wave.unsqueeze(1) * 0.7).expand({2, 1, 8, 8});
  const auto y = g.measure(x, {}, {1, 2});
  const auto run = [&] {
    return restore_by(GetParam().name, {.prior = prior, .g = g, .y = y, .seeds = ImageSeeds(0, 2)}, {.sampler = {.steps = 60}, .gradient = 3, .more = {{"mpgd_step", 100}}}, silent);
  };
  if (GetParam().linear_only) {
    EXPECT_THAT(refusal(run), HasSubstr("method " + GetParam().name + ": expected a linear operator, got 'gamma+sr2' (nlbp, nlbp+, dps, pigdm, diffpir-nlbp, daps, "));
    return;
  }
  const auto before = g.inconsistency(torch::zeros_like(x), y), after = g.inconsistency(run(), y);
  EXPECT_LT((after / before).max().item<double>(), 0.5);
  if (GetParam().name.starts_with("nlbp")) {
    EXPECT_LT(after.max().item<double>(), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Field, EveryMethod, ::testing::ValuesIn(method_catalogue()), [](const auto& info) {
  std::string name;
  for (const char c : info.param.name) name += c == '+' ? "_plus" : c == '-' ? std::string("_") : std::string(1, c);
  return name;
});

TEST(Methods, RefuseClearly) {
  Observer silent;
  const auto prior = CorrelatedPrior::smooth(kMethodShape, 0, 0.3, 2);
  const auto g = make_degradation({.spec = "sr2"}, kMethodShape);
  const auto run = [&](const std::string& method, const Tensor& y, double sigma, double lambda = 1) {
    return refusal([&] { restore_by(method, {.prior = prior, .g = g, .y = y, .sigma_y = sigma, .seeds = ImageSeeds(0, 1)}, {.lambda = lambda}, silent); });
  };
  EXPECT_THAT(run("ddmn", torch::zeros({1, 1, 4, 4}), 0), HasSubstr("got 'ddmn' (did you mean ddnm"));
  EXPECT_THAT(run("ddnm", torch::zeros({1, 1, 8, 8}), 0), HasSubstr("measurement of sr2: expected a batch of 1×4×4, got [1, 1, 8, 8]"));
  EXPECT_THAT(run("ddnm", torch::zeros({1, 1, 4, 4}), -1), HasSubstr("a noise of 0 or more"));
  EXPECT_THAT(run("nlbp", torch::zeros({1, 1, 4, 4}), 0, 1.5), HasSubstr("lambda: expected a number in [0, 1], got 1.5"));
  const auto told = [&](const std::string& key, double value) {
    return refusal([&] { restore_by("daps", {.prior = prior, .g = g, .y = torch::zeros({1, 1, 4, 4}), .seeds = ImageSeeds(0, 1)}, {.more = {{key, value}}}, silent); });
  };
  EXPECT_THAT(told("daps_ode", 0), HasSubstr("daps_ode: expected a number from 1 to 100, got 0"));
  EXPECT_THAT(told("daps_odes", 1), HasSubstr("method setting: expected one of restarts"));
  const auto sensing = make_degradation({.spec = "cs"}, kMethodShape);
  EXPECT_THAT(refusal([&] { sensing.measure(torch::zeros({1, 1, 8, 8}), noise_from("poisson:10"), {1}); }), HasSubstr("not intensities"));
}

}  // namespace
}  // namespace spnn
