#include <gmock/gmock.h>
#include <spnn/core/errors.h>
#include <spnn/diffusion/sampler.h>

#include "support/damage.h"
#include "support/gaussian_prior.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using spnn::testing::GaussianPrior;
using spnn::testing::TensorNear;

TEST(Spacing, GivesDifferentAscendingTimesFromTheCleanestToTheNoisiest) {
  const auto schedule = Schedule::linear();
  for (const auto* name : {"uniform", "quadratic", "log-snr", "rho7"}) {
    for (const std::int64_t count : {2, 5, 20, 700}) {
      const auto times = spaced(schedule, count, spacing_from(name));
      ASSERT_EQ(std::ssize(times), count) << name;
      EXPECT_EQ(times.front(), 0);
      for (std::size_t k = 1; k < times.size(); ++k) EXPECT_LT(times[k - 1], times[k]) << name << " " << count;
      EXPECT_LT(times.back(), 1000);
      if (std::string(name) != "uniform") EXPECT_EQ(times.back(), 999) << name;
    }
  }
  const auto log_snr = spaced(schedule, 5, Spacing::log_snr);   // equal steps of the log-SNR, as far as whole times allow
  const auto at = [&](std::size_t k) { return std::log(schedule.snr(log_snr[k])); };
  EXPECT_NEAR(at(1) - at(2), at(2) - at(3), 0.1);
  EXPECT_NEAR(at(2) - at(3), at(3) - at(4), 0.1);
  EXPECT_THAT(spnn::testing::refusal([] { spacing_from("even"); }), ::testing::HasSubstr("got 'even'"));
}

// Where the score is exact every solver tends to one trajectory; the second order is nearer to it with as many steps.
TEST(Sampler, SecondOrderIsNearerToTheTrajectory) {
  Observer silent;
  const GaussianPrior prior({1, 8, 8}, 0.2, 0.3);
  const auto at = [&](SamplerKind kind, std::int64_t steps) {
    return sample(prior, {.kind = kind, .steps = steps, .spacing = Spacing::log_snr, .clamp = false}, ImageSeeds(0, 8), silent);
  };
  const auto exact = at(SamplerKind::ddim, 900);
  for (const std::int64_t steps : {10, 20}) {
    const auto first = (at(SamplerKind::ddim, steps) - exact).abs().mean().item<double>();
    const auto second = (at(SamplerKind::dpm, steps) - exact).abs().mean().item<double>();
    EXPECT_LT(second, 0.5 * first) << steps;
  }
}

TEST(Sampler, SecondOrderReturnsWhatTheCorrectionSaidLast) {
  Observer silent;
  const GaussianPrior prior({1, 4, 4}, 0, 0.3);
  const auto x = sample(prior, {.kind = SamplerKind::dpm, .steps = 5, .spacing = Spacing::rho7}, ImageSeeds(0, 2), silent, [](const SamplerStep& step) {
    return torch::full_like(step.x0_hat, 0.1 * static_cast<double>(step.index));
  });
  EXPECT_THAT(x, TensorNear(torch::full({2, 1, 4, 4}, 0.4), 1e-7));
}

// Time travel breaks the history: the step after a jump is of first order, and an image still depends on its seed alone.
TEST(Sampler, SecondOrderTravelsInTime) {
  Observer silent;
  const GaussianPrior prior({1, 4, 4}, 0.1, 0.3);
  const SamplerConfig config{.kind = SamplerKind::dpm, .steps = 6, .travel = {.length = 1, .repeat = 2}};
  const auto four = sample(prior, config, ImageSeeds(10, 4), silent);
  EXPECT_TRUE(torch::equal(four.slice(0, 2, 3), sample(prior, config, ImageSeeds(12, 1), silent)));
  EXPECT_NEAR(four.mean().item<double>(), 0.1, 0.15);
}

TEST(ImageSeeds, ForkIntoOtherSeedsForAnotherStage) {
  const ImageSeeds seeds(3, 2);
  const auto one = seeds.noise({1, 4, 4}, 0, torch::kFloat32), two = seeds.forked(1).noise({1, 4, 4}, 0, torch::kFloat32);
  EXPECT_FALSE(torch::allclose(one, two));
  EXPECT_TRUE(torch::equal(two.slice(0, 1, 2), seeds.slice(1, 2).forked(1).noise({1, 4, 4}, 0, torch::kFloat32)));
}

}  // namespace
}  // namespace spnn
