#include <gtest/gtest.h>
#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/restoration/wish.h>

using namespace spnn;

namespace {

// Four outputs: 0 rare (mean −3), the others about 0.
LogitStatistics wish_statistics(bool exemplars = true) {
  auto y = Rng(1).randn({2000, 4});
  y.select(1, 0).mul_(2).sub_(3);
  const auto mean = y.mean(0);
  LogitStatistics s{.mean = mean, .covariance = (y - mean).t().mm(y - mean) / 1999.0};
  if (exemplars) s.exemplars = y;
  return s;
}

Tensor wish_outputs() { return torch::tensor({{-4.0, 0.5, 2.0, -1.0}, {-2.0, -0.5, -2.0, 5.0}}, torch::kFloat32); }

}  // namespace

TEST(Wish, SetsWhatIsWishedAndLeavesTheRest) {
  const Wish wish(wish_statistics(), {.wishes = {{.attribute = 0, .present = true}}});
  const auto y = wish_outputs(), goal = wish(y);
  EXPECT_TRUE(torch::equal(goal.narrow(1, 1, 3), y.narrow(1, 1, 3)));
  EXPECT_TRUE(goal.select(1, 0).gt(0).all().item<bool>());
  EXPECT_NEAR(goal[0][0].item<double>(), typical_output(wish_statistics(), 0, true), 1e-5);
}

TEST(Wish, AimsAtWhatImagesWithTheAttributeHave) {
  const auto s = wish_statistics();
  const auto there = s.exemplars.select(1, 1).masked_select(s.exemplars.select(1, 1).lt(0));
  EXPECT_NEAR(typical_output(s, 1, false), std::min(-1.0, there.mean().item<double>()), 1e-5);
  EXPECT_GE(typical_output(wish_statistics(false), 0, true), 1.0);
}

TEST(Wish, AnAmountAsksForMoreAndLeavesDegreesAlone) {
  const auto s = wish_statistics();
  const Wish more(s, {.wishes = {{.attribute = 0, .present = true}, {.attribute = 1, .present = true, .probability = 0.7}}, .amount = 1.5});
  EXPECT_NEAR(more.goals()[0], 1.5 * typical_output(s, 0, true), 1e-9);
  EXPECT_NEAR(more.goals()[1], std::log(0.7 / 0.3), 1e-9);
  EXPECT_THROW(Wish(s, {.wishes = {{.attribute = 0}}, .amount = 0}), Error);
}

TEST(Wish, KeepsWhatIsFurtherAlready) {
  const Wish wish(wish_statistics(), {.wishes = {{.attribute = 3, .present = true}}});
  EXPECT_EQ(wish(wish_outputs())[1][3].item<double>(), 5.0);
}

TEST(Wish, TakesAProbabilityAtItsWord) {
  const Wish wish(wish_statistics(), {.wishes = {{.attribute = 3, .probability = 0.7}}});
  const auto p = torch::sigmoid(wish(wish_outputs()).select(1, 3));
  EXPECT_NEAR(p[0].item<double>(), 0.7, 1e-6);
  EXPECT_NEAR(p[1].item<double>(), 0.7, 1e-6);
}

TEST(Wish, DoesNotDependOnTheOrder) {
  const std::vector<std::vector<std::int64_t>> groups = {{1, 2}};
  const Wish one(wish_statistics(), {.wishes = {{.attribute = 1}, {.attribute = 3, .present = false}}, .exclusive = groups});
  const Wish other(wish_statistics(), {.wishes = {{.attribute = 3, .present = false}, {.attribute = 1}}, .exclusive = groups});
  EXPECT_TRUE(torch::equal(one(wish_outputs()), other(wish_outputs())));
}

TEST(Wish, TurnsOffWhatItExcludes) {
  const Wish wish(wish_statistics(), {.wishes = {{.attribute = 1}}, .exclusive = {{1, 2}}});
  const auto goal = wish(wish_outputs());
  EXPECT_LT(goal[0][2].item<double>(), 0);
  EXPECT_EQ(goal[1][2].item<double>(), -2.0);   // it was off
  EXPECT_THROW(Wish(wish_statistics(), {.wishes = {{.attribute = 1}, {.attribute = 2}}, .exclusive = {{1, 2}}}), Error);
}

TEST(Wish, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Wish(wish_statistics(), {.wishes = {{.attribute = 4}}}), Error);
  EXPECT_THROW(Wish(wish_statistics(), {.wishes = {{.attribute = 1}, {.attribute = 1}}}), Error);
  EXPECT_THROW(Wish(wish_statistics(), {.wishes = {{.attribute = 1, .probability = 1.0}}}), Error);
}
