#include <gtest/gtest.h>
#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/restoration/taken_once.h>
#include <spnn/restoration/target.h>

#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using testing::refusal;
using testing::TensorNear;

LogitStatistics some_statistics(std::int64_t outputs = 6) {
  const auto factor = Rng(1).randn({outputs, outputs}, torch::kFloat64);
  return {Rng(2).randn({outputs}, torch::kFloat64), factor.matmul(factor.t()) + torch::eye(outputs, torch::kFloat64)};
}

AttributeTargetConfig change(std::vector<AttributeChange> changes) { return {.changes = std::move(changes), .margin = -100}; }

TEST(Target, FixedIsWhateverTheOutputsAre) {
  const auto y = Rng(3).randn({4, 6});
  const auto target = fixed(y);
  EXPECT_THAT(target(torch::zeros({4, 6})), TensorNear(y, 0));
  EXPECT_THAT(refusal([&] { target(torch::zeros({5, 6})); }), ::testing::HasSubstr("target: expected outputs [5, 6], got [4, 6]"));
}

TEST(AttributeTarget, SparseSetsItsEntryAndNothingElse) {
  const auto s = some_statistics();
  const AttributeTarget target(s, change({{.attribute = 2, .present = true, .strategy = Strategy::sparse}}));
  const auto y = Rng(4).randn({3, 6}, torch::kFloat64);
  auto expected = y.clone();
  expected.select(1, 2).fill_(s.mean[2] + 2 * s.covariance[2][2].sqrt());
  EXPECT_THAT(target(y), TensorNear(expected, 1e-12));
}

TEST(AttributeTarget, CovarianceOfOneAttributeIsThePapersFormula) {
  const auto s = some_statistics();
  const AttributeTarget target(s, change({{.attribute = 4, .present = false, .strategy = Strategy::covariance}}));
  const auto y = Rng(5).randn({3, 6}, torch::kFloat64);
  const auto change_n = s.mean[4] - 2 * s.covariance[4][4].sqrt() - y.select(1, 4);
  const auto expected = y + change_n.unsqueeze(1) * (s.covariance[4] / s.covariance[4][4]);   // Δy_j = Σ_jn/Σ_nn Δy_n
  EXPECT_THAT(target(y), TensorNear(expected, 1e-10));
}

TEST(AttributeTarget, CovarianceOfASetIsTheConditionalExpectation) {
  const auto s = some_statistics();
  const AttributeTarget target(s, change({{1, true, Strategy::covariance}, {3, false, Strategy::covariance}}));
  const auto y = Rng(6).randn({2, 6}, torch::kFloat64);
  const auto moved = target(y) - y;
  const auto set = torch::tensor({1, 3}, torch::kInt64);
  const auto inverse = s.covariance.index_select(0, set).index_select(1, set).inverse();
  const auto expected = moved.index_select(1, set).matmul(inverse).matmul(s.covariance.index_select(0, set));
  EXPECT_THAT(moved, TensorNear(expected, 1e-10));
}

TEST(AttributeTarget, ASparseMemberOfASetMovesNothingElse) {
  const auto s = some_statistics();
  const AttributeTarget both(s, change({{1, true, Strategy::covariance}, {3, true, Strategy::sparse}}));
  const AttributeTarget one(s, change({{1, true, Strategy::covariance}}));
  const auto y = Rng(7).randn({2, 6}, torch::kFloat64);
  auto expected = one(y);
  expected.select(1, 3).fill_(both.goal()[1]);
  EXPECT_THAT(both(y), TensorNear(expected, 1e-10));
}

TEST(AttributeTarget, IsReachedOnceAndThenStays) {
  const auto s = some_statistics();
  const AttributeTarget target(s, change({{0, true, Strategy::covariance}, {5, false, Strategy::covariance}}));
  const auto reached = target(Rng(8).randn({3, 6}, torch::kFloat64));
  EXPECT_THAT(target(reached), TensorNear(reached, 1e-10));
}

TEST(AttributeTarget, ARareAttributeIsAskedForOnTheRightSide) {
  LogitStatistics rare{torch::tensor({-9.0, 0.0}, torch::kFloat64), torch::eye(2, torch::kFloat64)};
  const AttributeTarget on(rare, {.changes = {{0, true}}, .margin = 1.5});
  EXPECT_THAT(on.goal(), TensorNear(torch::tensor({1.5}, torch::kFloat64), 1e-12));
  const AttributeTarget off(rare, {.changes = {{0, false}}, .margin = 1.5});
  EXPECT_THAT(off.goal(), TensorNear(torch::tensor({-11.0}, torch::kFloat64), 1e-12));
}

TEST(AttributeTarget, ChoosesTheStrategyByMeasuredCorrelation) {
  auto covariance = torch::eye(3, torch::kFloat64);
  covariance[0][1] = covariance[1][0] = -0.8;
  const LogitStatistics s{torch::zeros({3}, torch::kFloat64), covariance};
  EXPECT_NEAR(strongest_correlation(s, 0), 0.8, 1e-12);
  EXPECT_NEAR(strongest_correlation(s, 2), 0.0, 1e-12);
  const AttributeTarget target(s, change({{0}, {2}}));
  EXPECT_EQ(target.strategies(), (std::vector{Strategy::covariance, Strategy::sparse}));
}

TEST(AttributeTarget, CorrelatedIsThePapersChoiceThoughThereAreExemplars) {
  auto covariance = torch::eye(3, torch::kFloat64);
  covariance[0][1] = covariance[1][0] = -0.8;
  const LogitStatistics s{torch::full({3}, -5.0, torch::kFloat64), covariance, 6 * torch::ones({20, 3}, torch::kFloat64)};
  auto config = change({{0}, {2}});
  for (auto& one : config.changes) one.strategy = Strategy::correlated;
  EXPECT_EQ(AttributeTarget(s, config).strategies(), (std::vector{Strategy::covariance, Strategy::sparse}));
  config.margin = -std::numeric_limits<double>::infinity();   // μ + 2σ and nothing else, though it says "no"
  EXPECT_NEAR(AttributeTarget(s, config).goal()[0].item<double>(), -3.0, 1e-12);
}

TEST(AttributeTarget, TakesTheNearestExemplarThatHasWhatIsWanted) {
  LogitStatistics s{torch::zeros({3}, torch::kFloat64), torch::eye(3, torch::kFloat64)};
  s.exemplars = torch::tensor({{3.0, 1.0, 0.0}, {3.0, -1.0, 5.0}, {-3.0, 1.0, 0.1}}, torch::kFloat64);
  const auto y = torch::tensor({{-2.0, 0.9, 0.1}, {-2.0, -1.0, 4.0}}, torch::kFloat64);
  const AttributeTarget target(s, {.changes = {{0, true}}, .margin = 0.5});
  EXPECT_EQ(target.strategies(), (std::vector{Strategy::exemplar}));
  EXPECT_TRUE(torch::equal(target(y), s.exemplars.slice(0, 0, 2)));
  const AttributeTarget without(s, {.changes = {{0, false}}, .margin = 0.5});
  EXPECT_TRUE(torch::equal(without(y), s.exemplars.slice(0, 2, 3).expand({2, 3})));
}

TEST(AttributeTarget, WithoutAFittingExemplarFollowsTheCovariance) {
  LogitStatistics s{torch::zeros({2}, torch::kFloat64), torch::eye(2, torch::kFloat64)};
  s.exemplars = torch::tensor({{-1.0, 0.0}}, torch::kFloat64);
  EXPECT_EQ(AttributeTarget(s, {.changes = {{0, true}}, .margin = 0.5}).strategies(), (std::vector{Strategy::sparse}));
  EXPECT_THAT(refusal([&] { AttributeTarget(s, {.changes = {{0, true, Strategy::exemplar}}, .margin = 0.5}); }), ::testing::HasSubstr("got none"));
  const AttributeTargetConfig mixed{.changes = {{0, true, Strategy::exemplar}, {1, true, Strategy::sparse}}};
  EXPECT_THAT(refusal([&] { AttributeTarget(s, mixed); }), ::testing::HasSubstr("got a mixture"));
}

TEST(TakenOnce, StandsAfterTheFirstStepWhateverTheOutputsDo) {
  const LogitStatistics s{torch::zeros({2}, torch::kFloat64), torch::eye(2, torch::kFloat64)};
  const auto target = taken_once([](const Tensor& y) { return y + 1; }, s, /*spread=*/2);
  const auto first = target(torch::tensor({{0.5, 9.0}}, torch::kFloat64));
  EXPECT_THAT(first, TensorNear(torch::tensor({{1.5, 3.0}}, torch::kFloat64), 1e-12));
  EXPECT_TRUE(torch::equal(target(torch::tensor({{-7.0, 7.0}}, torch::kFloat64)), first));
}

TEST(AttributeTarget, RefusesWhatCannotBe) {
  const auto s = some_statistics();
  EXPECT_THAT(refusal([&] { AttributeTarget(s, {}); }), ::testing::HasSubstr("one or more to change"));
  EXPECT_THAT(refusal([&] { AttributeTarget(s, change({{6}})); }), ::testing::HasSubstr("a number from 0 to 5, got 6"));
  EXPECT_THAT(refusal([&] { AttributeTarget(s, change({{1}, {1, false}})); }), ::testing::HasSubstr("number 1 twice"));
}

TEST(ExpectedOutputs, AreTheMeanWhereNothingIsKnownOfCorrelation) {
  LogitStatistics s{Rng(2).randn({4}, torch::kFloat64), torch::eye(4, torch::kFloat64)};
  auto expected = s.mean.clone();
  expected[1] = s.mean[1] + 2;
  EXPECT_THAT(expected_outputs(s, change({{1, true}})), TensorNear(expected, 1e-12));
}

}  // namespace
}  // namespace spnn
