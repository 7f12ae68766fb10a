#include "network.h"

#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/data/task.h>
#include <spnn/training/labelled_batches.h>
#include <spnn/training/phase_losses.h>
#include <spnn/training/places.h>
#include <spnn/training/statistics.h>
#include <spnn/training/train_config.h>

namespace spnn::python {
namespace {

// One training step over a network: every U is computed once between enter and exit.
class StepScope {
 public:
  explicit StepScope(NetworkPtr net) : net_(std::move(net)) {}
  void enter() { scope_.emplace(net_->net()); }
  void exit() { scope_.reset(); }

 private:
  NetworkPtr net_;
  std::optional<MixScope> scope_;
};

// The batches of a trainer's run: a function of (seed, step).
class Batches {
 public:
  Batches(std::shared_ptr<Dataset> dataset, const AugmentConfig& augment, std::int64_t batch, std::uint64_t seed)
      : dataset_(std::move(dataset)), batches_(*dataset_, {.augment = augment, .batch = batch, .seed = seed}) {}

  std::pair<Tensor, std::optional<Tensor>> get(std::int64_t step) {
    const auto batch = batches_.get(step, {});
    return {batch.images, optional_of(batch.labels)};
  }
  std::int64_t steps_per_epoch() const { return batches_.steps_per_epoch(); }

 private:
  std::shared_ptr<Dataset> dataset_;
  LabelledBatches batches_;
};

Losses phase_one(const Network& n, const Tensor& x, const Tensor& targets, const std::string& task, const PhaseOneLosses& lambda,
                 std::int64_t inverse_every, double label_smoothing) {
  require_input(x, n.weight, "phase one");
  const MixScope once(n.net());
  const auto trace = n.net().trace(x);
  Losses parts{{"task", lambda.task * task_loss(task_from(task), trace.y, targets, {.label_smoothing = label_smoothing})}};
  auto others = inverse_losses(n.net(), x, trace, lambda, inverse_every);
  parts.insert(parts.end(), others.begin(), others.end());
  return parts;
}

Losses phase_two(const Network& n, const Tensor& x, const PhaseTwoLosses& lambda, const std::string& r_set) {
  require_input(x, n.weight, "phase two");
  return phase_two_losses(n.net(), n.net().r_set(r_set), lambda, x, lambda.natural > 0 ? q_of_zero(n.net()) : std::vector<Tensor>());
}

void bind_data(py::module_& m) {
  py::class_<Dataset, std::shared_ptr<Dataset>>(m, "Dataset")
      .def_readonly("name", &Dataset::name)
      .def_readonly("images", &Dataset::images)
      .def_property_readonly("labels", [](const Dataset& d) { return optional_of(d.labels); })
      .def_readonly("attributes", &Dataset::attributes)
      .def_readonly("files", &Dataset::files)
      .def_property_readonly("task", [](const Dataset& d) { return std::string(to_string(task_of(d))); })
      .def("__len__", &Dataset::size);
  m.def("load_data", [](const std::string& path, const std::string& split, std::int64_t size, std::int64_t channels, std::int64_t limit) {
    return std::make_shared<Dataset>(load_dataset(path, {.split = split_from(split), .size = size, .channels = channels, .limit = limit}));
  }, Unlocked());
  m.def("tensor_data", [](const Tensor& images, const std::optional<Tensor>& labels, std::vector<std::string> names) {
    Dataset d;
    d.name = "tensors";
    d.images = images;
    d.labels = tensor_of(labels);
    d.attributes = std::move(names);
    d.multi_label = labels && labels->dim() == 2;
    return std::make_shared<Dataset>(std::move(d));
  });
  py::class_<Batches>(m, "Batches")
      .def(py::init([](std::shared_ptr<Dataset> d, std::int64_t batch, std::uint64_t seed, bool flip, std::int64_t shift, std::int64_t cutout) {
        return std::make_unique<Batches>(std::move(d), AugmentConfig{.flip = flip, .shift = shift, .cutout = cutout}, batch, seed);
      }))
      .def("get", &Batches::get, Unlocked())
      .def_property_readonly("steps_per_epoch", &Batches::steps_per_epoch);
}

}  // namespace

void bind_training(py::module_& m) {
  bind_data(m);
  py::class_<StepScope>(m, "StepScope")
      .def(py::init<NetworkPtr>())
      .def("enter", &StepScope::enter)
      .def("exit", &StepScope::exit);
  m.def("task_loss", [](const std::string& task, const Tensor& outputs, const Tensor& targets, double label_smoothing) {
    return task_loss(task_from(task), outputs, targets, {.label_smoothing = label_smoothing});
  }, Unlocked());
  m.def("phase_one", [](const Network& n, const Tensor& x, const Tensor& targets, const std::string& task, double task_weight, double surjectivity,
                        double stability, double regression, double range, std::int64_t inverse_every, double label_smoothing) {
    const PhaseOneLosses lambda{.task = task_weight, .surjectivity = surjectivity, .stability = stability, .regression = regression, .range = range};
    return phase_one(n, x, targets, task, lambda, inverse_every, label_smoothing);
  }, Unlocked());
  m.def("phase_two", [](const Network& n, const Tensor& x, double natural, double stability, double surjectivity, double regression, double rollout,
                        double range, double min_norm, const std::string& r_set) {
    const PhaseTwoLosses lambda{.natural = natural, .stability = stability, .surjectivity = surjectivity, .regression = regression,
                                .rollout = rollout, .range = range, .min_norm = min_norm};
    return phase_two(n, x, lambda, r_set);
  }, Unlocked());
  m.def("output_statistics", [](const Tensor& outputs) {
    const auto found = output_statistics(outputs);
    return std::tuple(found.at("statistics.mean"), found.at("statistics.covariance"), found.at("statistics.exemplars"));
  }, Unlocked());
  m.def("attribute_places", [](const Tensor& images, const Tensor& labels) { return attribute_places(Dataset{.name = "images", .images = images, .labels = labels}); },
        Unlocked());
  m.def("learning_rate", [](const std::string& config, std::int64_t step) { return learning_rate(Json::parse(config).get<TrainConfig>(), step); });
}

}  // namespace spnn::python
