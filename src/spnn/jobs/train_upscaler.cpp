#include <spnn/checkpoint/load_prior.h>
#include <spnn/diffusion/upscale.h>
#include <spnn/image/grid.h>
#include <spnn/image/resize.h>
#include <spnn/engine/engine.h>
#include <spnn/jobs/training_session.h>
#include <spnn/training/upscaler.h>

namespace spnn::engine {
namespace {

// Four held-out images: the small one enlarged, the second stage's, and the photo. The same noise in every sheet.
void write_upscaler_sheet(const std::shared_ptr<const Upscaler>& net, const Tensor& photos, const std::filesystem::path& file) {
  Observer silent;
  const auto x = to_unit(photos);
  const auto low = net->low(x);
  const auto made = upscale(net, low, {.level = 0}, ImageSeeds(0, x.size(0)), silent);
  const auto large = resize(low, x.size(2), x.size(3)).clamp(-1, 1);
  write_image(file, grid(torch::cat({large, made.clamp(-1, 1), x}), {.columns = x.size(0), .row_labels = {"bicubic", "made", "photo"}}));
}

}  // namespace

void Engine::train_upscaler(const TrainJob& job, Observer& observer) {
  const auto recipe = recipe_of<UpscalerRecipe>(job, read_config(job.config));
  const TrainingSession session(job, observer);
  const auto sets = session.load_labelled(recipe.network.image_size, 3);
  const auto shown = sets.val.images.slice(0, 0, 4);
  UpscalerObjective objective(recipe, sets.train, sets.val, [&](const std::shared_ptr<const Upscaler>& net, std::int64_t step) {
    if (session.leads() && step % recipe.sheet_every == 0) write_upscaler_sheet(net, shown, session.file(fmt::format("samples-{:06}.png", step)));
  });
  if (!job.from.empty()) {
    const auto model = load_upscaler(job.from);
    if (model->config().by_frequency == recipe.network.by_frequency) {
      session.start_from(objective, *model);
    } else {
      objective.network().learn_from(*model);
      session.observer().message(job.from + ": what its last layer says means something else here: that layer begins anew");
    }
  }
  session.train(objective, recipe.train, {{"trainer", "upscaler"}, {"config", recipe}});
}

}  // namespace spnn::engine
