#include <spnn/evaluation/classifier.h>

#include <gmock/gmock.h>

#include "support/damage.h"

using namespace spnn;
using namespace spnn::testing;

namespace {

Dataset labels_only(const Tensor& labels, std::vector<std::string> names, bool multi_label) {
  Dataset set;
  set.name = "labels";
  set.images = torch::zeros({labels.size(0), 1, 1, 1}, torch::kUInt8);
  set.labels = labels;
  set.attributes = std::move(names);
  set.multi_label = multi_label;
  return set;
}

}  // namespace

TEST(ClassifierReport, CountsAccuracyAgreementAndMajority) {
  const auto set = labels_only(torch::tensor({{1.f, 0.f}, {1.f, 0.f}, {1.f, 1.f}, {0.f, 0.f}}), {"a", "b"}, true);
  const auto g = torch::tensor({{2.f, -1.f}, {1.f, 1.f}, {-1.f, 3.f}, {-1.f, -2.f}});       // a wrong once, b wrong once
  const auto judge = torch::tensor({{2.f, -1.f}, {1.f, -1.f}, {-1.f, 3.f}, {1.f, -2.f}});   // a wrong twice, b never
  const auto report = report_classifier(set, g, judge);
  EXPECT_DOUBLE_EQ(report.mean_accuracy, 0.75);
  EXPECT_DOUBLE_EQ(report.majority, 0.75);
  EXPECT_DOUBLE_EQ(*report.judge_mean_accuracy, 0.75);
  EXPECT_DOUBLE_EQ(*report.agreement, 0.75);
  EXPECT_DOUBLE_EQ(*report.rows[0].judge, 0.5);
  EXPECT_DOUBLE_EQ(*report.rows[1].judge, 1.0);
  EXPECT_DOUBLE_EQ(*report.rows[0].agreement, 0.75);
  EXPECT_DOUBLE_EQ(to_json(report).at("mean_accuracy").get<double>(), 0.75);
}

TEST(ClassifierReport, OfClassesGivesRecall) {
  const auto set = labels_only(torch::tensor({0, 0, 0, 1}), {"zero", "one"}, false);
  const auto report = report_classifier(set, torch::tensor({{1.f, 0.f}, {1.f, 0.f}, {0.f, 1.f}, {0.f, 1.f}}));
  EXPECT_DOUBLE_EQ(report.mean_accuracy, 0.75);
  EXPECT_DOUBLE_EQ(report.majority, 0.75);
  EXPECT_NEAR(report.rows[0].accuracy, 2.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(report.rows[1].accuracy, 1.0);
  EXPECT_FALSE(report.agreement.has_value());
}

TEST(ClassifierReport, NamesOutputsThatDoNotFit) {
  const auto set = labels_only(torch::tensor({0, 1}), {"zero", "one"}, false);
  EXPECT_THAT(refusal([&] { report_classifier(set, torch::zeros({2, 3})); }),
              ::testing::HasSubstr("expected [2, 2] as the data set has labels, got [2, 3]"));
}
