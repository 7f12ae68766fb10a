#include <spnn/engine/engine.h>
#include <spnn/jobs/labelled_model.h>
#include <spnn/jobs/training_session.h>
#include <spnn/checkpoint/models.h>
#include <spnn/training/classifier.h>

namespace spnn::engine {

void Engine::train_classifier(const ClassifierJob& job, Observer& observer) {
  auto recipe = recipe_of<ClassifierRecipe>(job, read_config(job.config));
  const TrainingSession session(job, observer);
  const auto& input = recipe.network.input;
  const auto sets = session.load_labelled(input.height, input.channels);
  recipe.network = with_outputs(recipe.network, static_cast<std::int64_t>(sets.train.attributes.size()));
  Map black_box;
  if (!job.black_box.empty()) black_box = load_labelled_model(job.black_box).map;
  ClassifierObjective objective(recipe, sets.train, sets.val, black_box);
  if (!job.from.empty()) session.start_from(objective, *load_spnn(job.from).net);
  Json run{{"trainer", "classifier"}, {"config", recipe}};
  if (black_box) run["black_box"] = job.black_box;
  session.train(objective, recipe.train, run);
  session.add_statistics(sets.train);
}

}  // namespace spnn::engine
