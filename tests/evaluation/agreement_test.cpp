#include <gtest/gtest.h>
#include <spnn/core/rng.h>
#include <spnn/evaluation/agreement.h>

#include <cmath>

#include "support/tensor_near.h"

namespace spnn {
namespace {

TEST(Agreement, CountsSignsPerAttribute) {
  const auto target = torch::tensor({{1.0, -1.0}, {2.0, 3.0}});
  const auto y = torch::tensor({{0.5, 1.0}, {0.1, 3.0}});
  const auto a = agreement_of(Task::attributes, y, target);
  EXPECT_DOUBLE_EQ(a.mean, 0.75);
  EXPECT_EQ(a.per_output, (std::vector{1.0, 0.5}));
}

TEST(Agreement, AbsDpIsZeroOnlyAtTheTarget) {
  const auto y = Rng(1).randn({10, 4});
  EXPECT_DOUBLE_EQ(agreement_of(Task::attributes, y, y).mean_abs_dp, 0);
  const auto shifted = agreement_of(Task::attributes, torch::zeros({1, 1}), torch::full({1, 1}, std::log(3.0)));
  EXPECT_NEAR(shifted.mean_abs_dp, 0.25, 1e-6);   // σ(0) = ½, σ(log 3) = ¾
}

TEST(Agreement, ClassesAgreeWhenTheLargestEntryDoes) {
  const auto target = torch::tensor({{5.0, 0.0, 0.0}, {0.0, 5.0, 0.0}, {0.0, 4.0, 0.0}});
  const auto y = torch::tensor({{2.0, 1.0, 0.0}, {3.0, 1.0, 0.0}, {0.0, 1.0, 0.0}});
  const auto a = agreement_of(Task::classes, y, target);
  EXPECT_NEAR(a.mean, 2.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(a.per_output[0], 1);
  EXPECT_DOUBLE_EQ(a.per_output[1], 0.5);
  EXPECT_TRUE(std::isnan(a.per_output[2]));
}

TEST(ChanceAgreement, IsTheMeanOverAllPairs) {
  for (const auto task : {Task::attributes, Task::classes}) {
    const auto y = Rng(2).randn({7, 3}), target = Rng(3).randn({5, 3});
    double sum = 0;
    for (int i = 0; i < 7; ++i) sum += agreement_of(task, y[i].expand({5, 3}), target).mean;
    EXPECT_NEAR(chance_agreement(task, y, target), sum / 7, 1e-12);
  }
}

TEST(TransferScore, IsZeroAtThePriorAndOneAtTheRealImage) {
  EXPECT_DOUBLE_EQ(transfer_score(0.6, 0.6, 0.9), 0);
  EXPECT_DOUBLE_EQ(transfer_score(0.9, 0.6, 0.9), 1);
  EXPECT_TRUE(std::isnan(transfer_score(0.5, 0.5, 0.5)));
}

}  // namespace
}  // namespace spnn
