#include <gmock/gmock.h>
#include <spnn/core/errors.h>
#include <spnn/diffusion/autoguidance.h>
#include <spnn/diffusion/sampler.h>

#include "support/gaussian_prior.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using spnn::testing::GaussianPrior;
using spnn::testing::TensorNear;

const Shape kLedShape{3, 8, 8};

std::shared_ptr<const Denoiser> narrow() { return std::make_shared<GaussianPrior>(kLedShape, 0.2, 0.3); }
std::shared_ptr<const Denoiser> wide() { return std::make_shared<GaussianPrior>(kLedShape, 0.0, 0.6); }

TEST(Autoguidance, LeadsAwayFromTheWeakPriorInsideItsWindowOnly) {
  const auto good = narrow(), weak = wide();
  const AutoguidedDenoiser both(good, weak, {.weight = 1.5, .from = 800, .to = 100});
  const auto x = Rng(1).randn(kLedShape.batched(2));
  for (const std::int64_t t : {100, 500, 799}) {
    EXPECT_THAT(both.eps(x, t), TensorNear(good->eps(x, t) + 1.5 * (good->eps(x, t) - weak->eps(x, t)), 1e-6)) << t;
  }
  for (const std::int64_t t : {0, 99, 800, 999}) EXPECT_TRUE(torch::equal(both.eps(x, t), good->eps(x, t))) << t;
}

// A weak prior that is too broad and in the wrong place: away from it lie images nearer to the good one's middle.
TEST(Autoguidance, DrawsNearerToWhatTheGoodPriorIsSureOf) {
  Observer silent;
  const auto drawn = [&](const std::shared_ptr<const Denoiser>& prior) {
    return sample(*prior, {.kind = SamplerKind::ddpm, .steps = 50, .clamp = false}, ImageSeeds(0, 64), silent);
  };
  const auto plain = drawn(narrow()), led_away = drawn(std::make_shared<AutoguidedDenoiser>(narrow(), wide(), Autoguidance{.weight = 1}));
  EXPECT_LT(led_away.std().item<double>(), 0.9 * plain.std().item<double>());
}

TEST(Autoguidance, IsTakenOffAndWeighedAnew) {
  const auto good = narrow();
  const std::shared_ptr<const Denoiser> both = std::make_shared<AutoguidedDenoiser>(good, wide(), Autoguidance{.weight = 2, .from = 900, .to = 50});
  EXPECT_EQ(unled(both), good);
  EXPECT_EQ(led(both, 0), good);
  EXPECT_EQ(led(good, 3), good);
  const auto other = std::dynamic_pointer_cast<const AutoguidedDenoiser>(led(both, 0.5));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->lead(), (Autoguidance{.weight = 0.5, .from = 900, .to = 50}));
}

TEST(Autoguidance, RefusesWhatDoesNotFit) {
  const auto small = std::make_shared<GaussianPrior>(Shape{3, 4, 4}, 0.0, 0.5);
  try {
    const AutoguidedDenoiser both(narrow(), small, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the weak prior: expected images of 3×8×8, got 3×4×4"));
  }
  EXPECT_THROW(autoguidance_from({{"weight", -1}}, "file"), Error);
  EXPECT_THROW(autoguidance_from({{"weight", 1}, {"from", 10}, {"to", 20}}, "file"), Error);
  EXPECT_THROW(autoguidance_from({{"wait", 1}}, "file"), Error);
  EXPECT_EQ(autoguidance_from(to_json(Autoguidance{.weight = 0.7, .from = 1000, .to = 120}), "file"), (Autoguidance{.weight = 0.7, .from = 1000, .to = 120}));
}

}  // namespace
}  // namespace spnn
