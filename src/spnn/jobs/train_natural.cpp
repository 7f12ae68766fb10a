#include <spnn/engine/engine.h>
#include <spnn/jobs/training_session.h>
#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/data/subsets.h>
#include <spnn/training/natural.h>

namespace spnn::engine {

void Engine::train_natural(const NaturalJob& job, Observer& observer) {
  auto recipe = recipe_of<NaturalRecipe>(job, read_config(job.config));
  const TrainingSession session(job, observer);
  const auto& input = recipe.network.input;
  auto sets = session.load_labelled(input.height, input.channels);
  if (!job.identities.empty()) {
    sets.val = half_by_person(sets.val, read_identities(job.identities), 'a');
    session.observer().message(fmt::format("the step that is kept is chosen by {} images of val-a", sets.val.size()));
  }
  recipe.network = with_outputs(recipe.network, static_cast<std::int64_t>(sets.train.attributes.size()));
  const auto memory = job.memory.empty() ? nullptr : load_spnn(job.memory).net;
  NaturalObjective objective(recipe, load_judge(job.teacher).net, sets.train, sets.val, memory);
  if (!job.from.empty()) session.start_from(objective, *load_spnn(job.from).net);
  const auto teacher = read_safetensors(job.teacher).metadata["checksum"];
  session.train(objective, recipe.train, {{"trainer", "natural"}, {"config", recipe}, {"teacher", teacher}});
  session.add_statistics(sets.train);
}

}  // namespace spnn::engine
