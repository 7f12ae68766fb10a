#include <gtest/gtest.h>
#include <spnn/core/rng.h>
#include <spnn/evaluation/edit_measures.h>

namespace spnn {
namespace {

TEST(EditMeasures, AnEditThatOnlySetsItsAttributeDoesNotDrift) {
  const auto free = Rng(1).randn({6, 5});
  auto edited = free.slice(0, 0, 4).clone();
  edited.select(1, 2).fill_(3);
  edited[3][2] = -1;
  const auto m = measure_edit({.logits = edited, .unguided = free, .attributes = {2}, .present = {true}});
  EXPECT_DOUBLE_EQ(m.right[0], 0.75);
  EXPECT_DOUBLE_EQ(m.all_right, 0.75);
  EXPECT_DOUBLE_EQ(m.drift, 0);
}

TEST(EditMeasures, AllRightNeedsEveryAttribute) {
  const auto edited = torch::tensor({{1.0, -1.0}, {1.0, 1.0}, {-1.0, -1.0}});
  const auto m = measure_edit({.logits = edited, .unguided = edited, .attributes = {0, 1}, .present = {true, false}});
  EXPECT_NEAR(m.right[0], 2.0 / 3, 1e-12);
  EXPECT_NEAR(m.right[1], 2.0 / 3, 1e-12);
  EXPECT_NEAR(m.all_right, 1.0 / 3, 1e-12);
}

TEST(EditMeasures, UnguidedDriftIsTheMeanOverPairsOfDifferentImages) {
  const auto free = Rng(2).randn({5, 4});
  const auto m = measure_edit({.logits = free, .unguided = free, .attributes = {1}, .present = {true}});
  double changed = 0;
  int pairs = 0;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 5; ++j) {
      if (i == j) continue;
      for (const int a : {0, 2, 3}) changed += (free[i][a].item<float>() > 0) != (free[j][a].item<float>() > 0);
      pairs += 3;
    }
  }
  EXPECT_NEAR(m.drift_unguided, changed / pairs, 1e-12);
}

TEST(EditMeasures, RecallLooksOnlyAtImagesThatHaveIt) {
  const auto reference = torch::tensor({{1.0}, {1.0}, {-1.0}}), judge = torch::tensor({{1.0}, {-1.0}, {1.0}});
  EXPECT_DOUBLE_EQ(recall_on(judge, reference, 0, true), 0.5);
  EXPECT_DOUBLE_EQ(recall_on(judge, reference, 0, false), 0);
}

}  // namespace
}  // namespace spnn
