#include <gmock/gmock.h>
#include <spnn/core/errors.h>
#include <spnn/diffusion/schedule.h>

#include <cmath>

namespace spnn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(Schedule, AlphaBarIsTheProductOfOneMinusBeta) {
  const auto schedule = Schedule::linear(0.1, 0.3, 3);   // β = 0.1, 0.2, 0.3
  EXPECT_DOUBLE_EQ(schedule.alpha_bar(-1), 1.0);
  EXPECT_DOUBLE_EQ(schedule.alpha_bar(0), 0.9);
  EXPECT_NEAR(schedule.alpha_bar(1), 0.9 * 0.8, 1e-15);
  EXPECT_NEAR(schedule.alpha_bar(2), 0.9 * 0.8 * 0.7, 1e-15);
}

TEST(Schedule, RespacedTimesStartAtZeroAndKeepTheirDistance) {
  EXPECT_THAT(respaced(1000, 4), ElementsAre(0, 250, 500, 750));
  EXPECT_THAT(respaced(10, 3), ElementsAre(0, 3, 6));
  EXPECT_EQ(respaced(1000, 1000).back(), 999);
  try {
    respaced(1000, 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("steps: expected a number from 1 to 1000, got 0"));
  }
}

// By hand: ᾱ_s = 0.9, ᾱ_t = 0.72, α = 0.8, β = 0.2.
TEST(Posterior, OfOneStepEqualsDdpmsFormulas) {
  const auto schedule = Schedule::linear(0.1, 0.3, 3);
  const auto p = posterior(schedule, 1, 0);
  EXPECT_NEAR(p.c0, std::sqrt(0.9) * 0.2 / 0.28, 1e-12);
  EXPECT_NEAR(p.ct, std::sqrt(0.8) * 0.1 / 0.28, 1e-12);
  EXPECT_NEAR(p.sigma * p.sigma, 0.1 / 0.28 * 0.2, 1e-12);
}

// The law that defines it: posterior and forward process agree on the marginal of x_s.
TEST(Posterior, KeepsTheMarginalOfALongStep) {
  const auto schedule = Schedule::linear();
  for (const auto& [t, s] : {std::pair{990, 980}, {500, 100}, {10, 0}}) {
    const auto p = posterior(schedule, t, s);
    const double at = schedule.alpha_bar(t), as = schedule.alpha_bar(s);
    EXPECT_NEAR(p.c0 + p.ct * std::sqrt(at), std::sqrt(as), 1e-12);
    EXPECT_NEAR(p.ct * p.ct * (1 - at) + p.sigma * p.sigma, 1 - as, 1e-12);
  }
}

TEST(Walk, WithoutTravelGoesStraightDown) {
  EXPECT_THAT(walk(3, {}), ElementsAre(Pair(2, 1), Pair(1, 0), Pair(0, -1)));
}

TEST(Walk, OfLengthOneRepeatTwoTakesEveryStepTwiceButTheFirst) {
  EXPECT_THAT(walk(3, {.length = 1, .repeat = 2}),
              ElementsAre(Pair(2, 1), Pair(1, 2), Pair(2, 1), Pair(1, 0), Pair(0, 1), Pair(1, 0), Pair(0, -1)));
}

TEST(Walk, OfLengthTwoJumpsBackTwo) {
  EXPECT_THAT(walk(4, {.length = 2, .repeat = 2}),
              ElementsAre(Pair(3, 2), Pair(2, 1), Pair(1, 0), Pair(0, 2), Pair(2, 1), Pair(1, 0), Pair(0, -1)));
}

}  // namespace
}  // namespace spnn
