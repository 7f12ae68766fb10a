#include <spnn/engine/engine.h>
#include <spnn/jobs/training_session.h>
#include <spnn/checkpoint/models.h>
#include <spnn/core/errors.h>
#include <spnn/data/identities.h>
#include <spnn/training/identity.h>

namespace spnn::engine {

void Engine::train_identity(const IdentityJob& job, Observer& observer) {
  const auto recipe = recipe_of<IdentityRecipe>(job, read_config(job.config));
  const TrainingSession session(job, observer);
  auto sets = session.load_labelled(recipe.network.image_size, recipe.network.in_channels);
  const auto identities = read_identities(job.identities);
  sets.train = with_people(sets.train, identities, recipe.least_images);
  sets.val = with_people(sets.val, identities);
  session.observer().message(fmt::format("{} training images of {} people with {} or more; {} validation images of {} people",
                                         sets.train.size(), sets.train.attributes.size(), recipe.least_images, sets.val.size(),
                                         sets.val.attributes.size()));
  IdentityObjective objective(recipe, sets.train, sets.val);
  if (!job.from.empty()) session.start_from(objective, *load_identity(job.from));
  session.train(objective, recipe.train, {{"trainer", "identity"}, {"config", recipe}});
}

}  // namespace spnn::engine
