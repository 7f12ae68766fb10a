#include <spnn/engine/engine.h>
#include <spnn/jobs/training_session.h>
#include <spnn/checkpoint/models.h>
#include <spnn/training/judge.h>

namespace spnn::engine {

void Engine::train_judge(const TrainJob& job, Observer& observer) {
  auto recipe = recipe_of<JudgeRecipe>(job, read_config(job.config));
  const TrainingSession session(job, observer);
  const auto sets = session.load_labelled(recipe.judge.image_size, recipe.judge.in_channels);
  recipe.judge.outputs = static_cast<std::int64_t>(sets.train.attributes.size());
  JudgeObjective objective(recipe, sets.train, sets.val);
  if (!job.from.empty()) session.start_from(objective, *load_judge(job.from).net);
  session.train(objective, recipe.train, {{"trainer", "judge"}, {"config", recipe}});
}

}  // namespace spnn::engine
