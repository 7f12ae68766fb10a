#include <spnn/training/labelled_batches.h>
#include <spnn/data/task.h>

#include "support/damage.h"
#include "support/tensor_near.h"
#include "training/tiny.h"

using namespace spnn;
using namespace spnn::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TaskLoss, OfAttributesIsTheNegativeLogLikelihood) {
  const auto y = Rng(1).randn({5, 3}, torch::kFloat64);
  const auto labels = Rng(2).uniform({5, 3}).gt(0.5).to(torch::kFloat64);
  const auto p = torch::sigmoid(y);
  const auto expected = -(labels * p.log() + (1 - labels) * (1 - p).log());
  EXPECT_THAT(task_loss(Task::attributes, y, labels), TensorNear(expected.mean(), 1e-12));
  const auto weights = torch::tensor({2.0, 1.0, 0.0}, torch::kFloat64);
  EXPECT_THAT(task_loss(Task::attributes, y, labels, {.weights = weights}), TensorNear((expected * weights).mean(), 1e-12));
}

TEST(TaskLoss, SmoothingPullsTheOptimumOffTheLabels) {
  const auto labels = torch::ones({1, 1}, torch::kFloat64);
  auto y = torch::full({1, 1}, std::log(0.95 / 0.05), torch::kFloat64).requires_grad_(true);   // p = 1 − smoothing/2
  task_loss(Task::attributes, y, labels, {.label_smoothing = 0.1}).backward();
  EXPECT_THAT(y.grad(), TensorNear(torch::zeros({1, 1}), 1e-12));
}

TEST(TaskLoss, OfABlackBoxIsTheMeanSquare) {
  const auto y = Rng(1).randn({4, 2}, torch::kFloat64), d = Rng(2).randn({4, 2}, torch::kFloat64);
  EXPECT_THAT(task_loss(Task::black_box, y, d), TensorNear((y - d).square().mean(), 1e-12));
  EXPECT_THAT(refusal([&] { task_loss(Task::black_box, y, d.narrow(1, 0, 1)); }), HasSubstr("expected targets of shape [4, 2]"));
}

TEST(Accuracy, CountsAttributesAndClasses) {
  const auto y = torch::tensor({{1.0, -1.0}, {2.0, 3.0}, {-1.0, 1.0}, {-2.0, -1.0}});
  const auto attributes = accuracy_of(Task::attributes, y, torch::tensor({{1.0, 0.0}, {1.0, 0.0}, {1.0, 1.0}, {0.0, 0.0}}));
  EXPECT_THAT(attributes.per_output, ElementsAre(0.75, 0.75));
  EXPECT_DOUBLE_EQ(attributes.mean, 0.75);
  const auto classes = accuracy_of(Task::classes, y, torch::tensor({0, 1, 1, 0}));
  EXPECT_DOUBLE_EQ(classes.mean, 0.75);
  EXPECT_THAT(classes.per_output, ElementsAre(0.5, 1.0));
}

TEST(LabelledBatches, SharesMakeUpTheWholeBatch) {
  const auto set = tiny_dataset(40);
  const LabelledBatches::Config config{.augment = {.flip = true, .shift = 1, .cutout = 3}, .batch = 8, .seed = 5};
  LabelledBatches whole(set, config), halves(set, config);
  for (const std::int64_t step : {0, 3, 7}) {
    const auto all = whole.get(step, {});
    const auto first = halves.get(step, {0, 2}), second = halves.get(step, {1, 2});
    EXPECT_TRUE(torch::equal(all.images, torch::cat({first.images, second.images})));
    EXPECT_TRUE(torch::equal(all.labels, torch::cat({first.labels, second.labels})));
  }
}

TEST(LabelledBatches, AskForABatchThatTheProcessesDivide) {
  const auto set = tiny_dataset(40);
  LabelledBatches batches(set, {.augment = {}, .batch = 8, .seed = 5});
  EXPECT_THAT(refusal([&] { batches.get(0, {0, 3}); }), HasSubstr("train.batch: expected a multiple of the 3 processes, got 8"));
}
