#include <spnn/app/engine_impl.h>
#include <spnn/app/training_session.h>
#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/training/stochastic_inverse.h>

namespace spnn::app {
namespace {

// The network with what its file stores beside the weights.
InverseObjective::Model load(const std::string& file) {
  auto content = read_safetensors(file);
  InverseObjective::Model model{.net = load_spnn(file).net, .carried = {}, .metadata = std::move(content.metadata)};
  for (const auto& [name, value] : content.tensors) {
    if (name.starts_with("statistics.")) model.carried[name] = value;
  }
  model.metadata.erase("checksum");
  return model;
}

void train_stochastic(const InverseJob& job, const Json& config, Observer& observer) {
  auto recipe = config.get<StochasticRecipe>();
  if (job.steps > 0) recipe.train.steps = job.steps;
  const TrainingSession session(job, observer);
  auto model = load(job.model);
  const auto input = model.net->in_shape();
  const auto sets = session.load_labelled(input.height, input.channels);
  const auto checksum = read_safetensors(job.model).metadata["checksum"];
  StochasticInverseObjective objective(recipe, std::move(model), sets.train, sets.val);
  session.train(objective, recipe.train, {{"trainer", "stochastic inverse"}, {"config", recipe}, {"model", checksum}});
  session.add_statistics(sets.train);
}

}  // namespace

void train_inverse(const InverseJob& job, Observer& observer) {
  const auto config = read_config(job.config);
  if (config.is_object() && config.value("recipe", Json()) == "stochastic") return train_stochastic(job, config, observer);
  auto recipe = config.get<InverseRecipe>();
  if (job.steps > 0) recipe.train.steps = job.steps;
  const TrainingSession session(job, observer);
  auto model = load(job.model);
  const auto input = model.net->in_shape();
  const auto sets = session.load_labelled(input.height, input.channels);
  const auto checksum = read_safetensors(job.model).metadata["checksum"];
  InverseObjective objective(recipe, std::move(model), sets.train, sets.val);
  const auto before = objective.validate();
  for (const auto& [name, value] : before.figures) session.observer().message(fmt::format("before: {} {:.5g}", name, value));
  session.train(objective, recipe.train, {{"trainer", "inverse"}, {"config", recipe}, {"model", checksum}});
  session.add_statistics(sets.train);
}

}  // namespace spnn::app
