#include <gmock/gmock.h>
#include <spnn/core/errors.h>
#include <spnn/diffusion/sampler.h>
#include <spnn/diffusion/unet_denoiser.h>
#include <spnn/layers/init.h>

#include "support/gaussian_prior.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using spnn::testing::GaussianPrior;
using spnn::testing::TensorNear;

std::shared_ptr<UNetDenoiser> small_prior(Parameterization parameterization, std::int64_t stem = 2) {
  auto net = std::make_shared<UNet>(UNetConfig{.image_size = 16, .ch = 16, .ch_mult = {1, 2}, .num_res_blocks = 1,
                                               .attn_resolutions = {4}, .stem = stem, .norm_groups = 8});
  initialise(*net, Rng(1));   // no zeros: a network that says something
  return std::make_shared<UNetDenoiser>(net, Schedule::linear(), parameterization);
}

TEST(Sampler, AnImageDoesNotDependOnItsBatch) {
  torch::NoGradGuard no_grad;
  Observer silent;
  const auto prior = small_prior(Parameterization::v);
  const SamplerConfig config{.steps = 6, .travel = {.length = 1, .repeat = 2}};
  const auto four = sample(*prior, config, ImageSeeds(10, 4), silent);
  const auto one = sample(*prior, config, ImageSeeds(12, 1), silent);
  EXPECT_TRUE(torch::equal(four.slice(0, 2, 3), one));
  EXPECT_TRUE(torch::equal(four, sample(*prior, config, ImageSeeds(10, 4), silent)));
}

// Where the score is exact, a chain of many steps gives the distribution itself. (DDPM's fixed-small variance is exact
// for a single image only: with 200 steps it gives σ = 0.283 here, which is why it gets 1000.)
TEST(Sampler, DrawsAGaussianFromItsExactDenoiser) {
  Observer silent;
  const GaussianPrior prior({1, 16, 16}, 0.2, 0.3);
  for (const auto& [kind, steps] : {std::pair{SamplerKind::ddpm, 1000}, {SamplerKind::ddim, 200}}) {
    const auto x = sample(prior, {.kind = kind, .steps = steps, .clamp = false}, ImageSeeds(0, 64), silent);
    EXPECT_NEAR(x.mean().item<double>(), 0.2, 0.01);   // 16384 pixels: the standard error is 0.0023
    EXPECT_NEAR(x.std().item<double>(), 0.3, 0.012);
  }
}

TEST(Sampler, TheCorrectionTakesThePlaceOfTheLastPrediction) {
  Observer silent;
  const GaussianPrior prior({1, 4, 4}, 0, 0.3);
  std::vector<std::int64_t> times;
  const auto x = sample(prior, {.steps = 4}, ImageSeeds(0, 2), silent, [&](const SamplerStep& step) {
    times.push_back(step.t);
    return torch::full_like(step.x0_hat, 0.5);
  });
  EXPECT_THAT(x, TensorNear(torch::full({2, 1, 4, 4}, 0.5), 0.0));
  EXPECT_THAT(times, ::testing::ElementsAre(750, 500, 250, 0));
}

TEST(Sampler, StartsFromAPhotoBelowTheGivenTime) {
  Observer silent;
  const GaussianPrior prior({1, 4, 4}, 0, 0.3);
  const auto photo = torch::full({1, 1, 4, 4}, 0.25);
  std::vector<std::int64_t> times;
  sample(prior, {.steps = 10}, ImageSeeds(0, 1), silent,
         [&](const SamplerStep& step) { times.push_back(step.t); return step.x0_hat; },
         {.photo = photo, .time = 500});
  EXPECT_THAT(times, ::testing::ElementsAre(400, 300, 200, 100, 0));
  EXPECT_EQ(evaluations({.steps = 10}, prior.schedule(), 500), 5);
}

// ε and v are two names for one prediction: x0 and ε recovered from v must agree with the forward process.
TEST(UNetDenoiser, ExportsEpsExactlyFromV) {
  torch::NoGradGuard no_grad;
  const auto v_prior = small_prior(Parameterization::v, /*stem=*/1), raw = small_prior(Parameterization::eps, 1);
  const auto x_t = Rng(3).randn({2, 3, 16, 16});
  const std::int64_t t = 300;
  const double a = v_prior->schedule().alpha_bar(t);
  const auto v = raw->eps(x_t, t);   // the same network's raw output
  const auto eps = v_prior->eps(x_t, t);
  const auto x0 = x0_from_eps(v_prior->schedule(), x_t, eps, t);
  EXPECT_THAT(std::sqrt(a) * eps - std::sqrt(1 - a) * x0, TensorNear(v, 1e-5));
  EXPECT_THAT(std::sqrt(a) * x0 + std::sqrt(1 - a) * eps, TensorNear(x_t, 1e-5));
}

TEST(UNetDenoiser, NamesBothShapesWhenTheyDiffer) {
  const auto prior = small_prior(Parameterization::v);
  try {
    prior->eps(torch::zeros({1, 3, 8, 8}), 5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected a batch of 3×16×16, got [1, 3, 8, 8]"));
  }
}

}  // namespace
}  // namespace spnn
