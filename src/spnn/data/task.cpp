#include <spnn/core/names.h>
#include <spnn/core/shape.h>
#include <spnn/data/batches.h>
#include <spnn/data/task.h>

#include <algorithm>
#include <array>

namespace spnn {
namespace {

constexpr std::array kTasks = {Named{Task::attributes, "attributes"}, Named{Task::classes, "classes"}, Named{Task::black_box, "black_box"}};

}  // namespace

Task task_of(const Dataset& dataset) {
  require(dataset.labels.defined() && !dataset.attributes.empty(), dataset.name, "labelled images",
          "images without attributes or classes");
  return dataset.multi_label ? Task::attributes : Task::classes;
}

std::string_view to_string(Task task) { return name_of(kTasks, task); }

Task task_from(std::string_view name) { return value_named(kTasks, name, "task of the model"); }

Tensor task_loss(Task task, const Tensor& outputs, const Tensor& targets, const TaskLossOptions& options) {
  if (task == Task::classes) {
    return torch::cross_entropy_loss(outputs, targets, {}, at::Reduction::Mean, /*ignore_index=*/-100,
                                     options.label_smoothing);
  }
  require(outputs.sizes() == targets.sizes(), "task loss", "targets of shape " + to_string(outputs.sizes()),
          to_string(targets.sizes()));
  if (task == Task::black_box) return torch::mse_loss(outputs, targets);
  const auto smoothed = targets * (1 - options.label_smoothing) + 0.5 * options.label_smoothing;
  return torch::binary_cross_entropy_with_logits(outputs, smoothed, options.weights, {}, at::Reduction::Mean);
}

Tensor outputs_over(const Dataset& dataset, const Map& map, std::int64_t batch) {
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> parts;
  for (std::int64_t first = 0; first < dataset.size(); first += batch) {
    const auto indices = torch::arange(first, std::min(first + batch, dataset.size()), torch::kInt64);
    parts.push_back(map(make_batch(dataset, indices).images));
  }
  require(!parts.empty(), dataset.name, "at least one image", "none");
  return torch::cat(parts);
}

Accuracy accuracy_of(Task task, const Tensor& outputs, const Tensor& labels) {
  require(task != Task::black_box, "accuracy", "labels", "a black box's outputs");
  const bool attributes = task == Task::attributes;
  const auto right = (attributes ? outputs.gt(0).eq(labels.gt(0.5)) : outputs.argmax(1).eq(labels)).to(torch::kFloat64);
  Accuracy out{.mean = right.mean().item<double>(), .per_output = {}};
  for (std::int64_t a = 0; a < outputs.size(1); ++a) {
    const auto answers = attributes ? right.select(1, a) : right.masked_select(labels.eq(a));
    out.per_output.push_back(answers.mean().item<double>());
  }
  return out;
}

}  // namespace spnn
