#include <spnn/app/engine_impl.h>
#include <spnn/app/training_session.h>
#include <spnn/training/classifier.h>

namespace spnn::app {

void train_classifier(const TrainJob& job, Observer& observer) {
  auto recipe = read_config(job.config).get<ClassifierRecipe>();
  if (job.steps > 0) recipe.train.steps = job.steps;
  const auto& input = recipe.network.input;
  const auto sets = load_labelled(job, input.height, input.channels, observer);
  recipe.network = with_outputs(recipe.network, static_cast<std::int64_t>(sets.train.attributes.size()));
  ClassifierObjective objective(recipe, sets.train, sets.val);
  run_training(objective, recipe.train, {{"trainer", "classifier"}, {"config", recipe}}, job, observer);
}

}  // namespace spnn::app
