#pragma once

#include <spnn/data/dataset.h>

#include <functional>
#include <string>
#include <vector>

namespace spnn {

// What a network's outputs are for.
enum class Task {
  attributes,   // independent yes/no labels: binary cross-entropy
  classes,      // one label of many: cross-entropy
  black_box     // the outputs of another map D(x): mean squared error
};

Task task_of(const Dataset& dataset);   // attributes or classes
std::string_view to_string(Task task);
Task task_from(std::string_view name);

struct TaskLossOptions {
  double label_smoothing = 0;   // of attributes and classes
  Tensor weights = {};          // [A], of attributes; undefined is all ones
};

// The mean over a batch. `targets` are labels, or D(x).
Tensor task_loss(Task task, const Tensor& outputs, const Tensor& targets, const TaskLossOptions& options = {});

// The outputs of a map over a whole set, [N, …], without gradients and without augmentation.
using Map = std::function<Tensor(const Tensor& x)>;
Tensor outputs_over(const Dataset& dataset, const Map& map, std::int64_t batch = 64);

// Shares of right answers, in [0, 1].
struct Accuracy {
  double mean = 0;                   // over all answers
  std::vector<double> per_output;    // per attribute, or the recall of each class (NaN for one that does not occur)
};
Accuracy accuracy_of(Task task, const Tensor& outputs, const Tensor& labels);

}  // namespace spnn
