#include <spnn/engine/engine.h>
#include <spnn/jobs/training_session.h>
#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/training/stochastic_inverse.h>

namespace spnn::engine {
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

// Both recipes freeze g and train what stands beside it; a run knows its model by the checksum.
template <class Objective, class Recipe>
void train(const InverseJob& job, const Json& config, std::string_view trainer, Observer& observer) {
  const auto recipe = recipe_of<Recipe>(job, config);
  const TrainingSession session(job, observer);
  auto model = load(job.model);
  const auto input = model.net->in_shape();
  const auto sets = session.load_labelled(input.height, input.channels);
  const auto checksum = read_safetensors(job.model).metadata["checksum"];
  Objective objective(recipe, std::move(model), sets.train, sets.val);
  for (const auto& [name, value] : objective.validate().figures) {
    session.observer().message(fmt::format("before: {} {:.5g}", name, value));
  }
  session.train(objective, recipe.train, {{"trainer", trainer}, {"config", recipe}, {"model", checksum}});
  session.add_statistics(sets.train);
}

}  // namespace

void Engine::train_inverse(const InverseJob& job, Observer& observer) {
  const auto config = read_config(job.config);
  if (config.is_object() && config.value("recipe", Json()) == "stochastic") {
    return train<StochasticInverseObjective, StochasticRecipe>(job, config, "stochastic inverse", observer);
  }
  train<InverseObjective, InverseRecipe>(job, config, "inverse", observer);
}

}  // namespace spnn::engine
