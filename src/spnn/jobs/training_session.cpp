#include <spnn/jobs/training_session.h>
#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/core/errors.h>
#include <spnn/training/distributed.h>
#include <spnn/training/statistics.h>
#include <spnn/data/task.h>

#include <charconv>
#include <cstdlib>

namespace spnn::engine {
namespace {

std::int64_t integer_variable(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  if (!text) return otherwise;
  const std::string_view value(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  require(error == std::errc() && end == value.data() + value.size(), name, "a whole number", "'" + std::string(value) + "'");
  return number;
}

// What torchrun, SLURM wrappers and Kubernetes say. MASTER_PORT is not used: the processes meet in the run directory.
ProcessGroupConfig group_from_environment(const TrainJob& job, const Observer& observer) {
  ProcessGroupConfig group;
  group.size = integer_variable("WORLD_SIZE", 1);
  if (group.size == 1) return group;
  require(std::getenv("RANK") != nullptr, "RANK", fmt::format("a value, because WORLD_SIZE is {}", group.size), "none");
  group.rank = integer_variable("RANK", 0);
  const char* address = std::getenv("MASTER_ADDR");
  const std::string_view host = address ? address : "localhost";
  group.one_machine = host == "localhost" || host == "::1" || host.starts_with("127.") || integer_variable("LOCAL_WORLD_SIZE", 0) == group.size;
  group.run = job.run;
  group.cancelled = [&observer] { return observer.cancelled(); };
  return group;
}

}  // namespace

TrainingSession::TrainingSession(const TrainJob& job, Observer& observer) : job_(job), observer_(observer), silent_(observer) {
  const auto group = group_from_environment(job, observer);
  if (group.rank == 0) lock_ = RunDirectory::lock(job.run);
  communicator_ = join_process_group(group);
  const auto size = communicator_->share().size;
  if (size > 1) this->observer().message(fmt::format("{} processes share every batch", size));
}

LabelledSets TrainingSession::load_labelled(std::int64_t size, std::int64_t channels) const {
  LabelledSets sets;
  sets.train = load_dataset(job_.data, {.split = Split::train, .size = size, .channels = channels});
  sets.val = load_dataset(job_.data, {.split = Split::val, .size = size, .channels = channels});
  std::string_view held_out = "validation";
  if (sets.val.size() == 0) {
    sets.val = load_dataset(job_.data, {.split = Split::test, .size = size, .channels = channels});
    held_out = "test";
  }
  observer().message(fmt::format("{}: {} training and {} {} images, {}", sets.train.name, sets.train.size(),
                                 sets.val.size(), held_out, sets.train.split_rule));
  return sets;
}

void TrainingSession::start_from(Objective& objective, const torch::nn::Module& model) const {
  auto state = state_of(model);
  const auto known = state_of(objective.module());
  // Further sets of r nets belong to the g that they were trained for.
  const auto left = std::erase_if(state, [&](const auto& tensor) { return tensor.first.find(".r_") != std::string::npos && !known.contains(tensor.first); });
  if (left > 0) observer().message(fmt::format("{}: {} tensors of further r nets are left behind, they fit the old g only", job_.from, left));
  // Nets r may have grown: they begin as what they were.
  std::int64_t grown = 0;
  for (auto& [name, value] : state) {
    const auto mine = known.find(name);
    if (mine == known.end() || name.find(".r.") == std::string::npos || mine->second.sizes() == value.sizes()) continue;
    value = widened(value, mine->second);
    ++grown;
  }
  if (grown > 0) observer().message(fmt::format("{}: {} tensors of r are wider here, and begin by giving what they gave", job_.from, grown));
  load_into(objective.module(), state, job_.from);
}

void TrainingSession::train(Objective& objective, const TrainConfig& config, Json run) const {
  if (!job_.from.empty()) run["from"] = job_.from;
  // The leader writes run.json; the others come after it and find what a resume would.
  if (!leads()) communicator_->barrier();
  RunDirectory directory(job_.run, run, job_.resume || !leads(), RunDirectory::Lock::held);
  if (leads()) communicator_->barrier();
  spnn::train(objective, {.config = config, .run = directory, .observer = observer(), .communicator = *communicator_,
                          .resume = job_.resume});
}

void TrainingSession::add_statistics(const Dataset& train) const {
  if (!leads()) return;
  const auto best = load_spnn(file("best.safetensors"));
  if (best.mean.defined() && best.covariance.defined() && best.exemplars.defined()) return;
  observer().message("statistics of the outputs over all training images");
  const auto outputs = outputs_over(train, [&](const Tensor& x) { return best.net->forward(x); });
  add_to_model(file("best.safetensors"), output_statistics(outputs, train));
}

}  // namespace spnn::engine
