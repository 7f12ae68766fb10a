#include <spnn/engine/engine.h>
#include <spnn/jobs/training_session.h>
#include <spnn/checkpoint/load_prior.h>
#include <spnn/diffusion/sampler.h>
#include <spnn/image/grid.h>
#include <spnn/training/prior.h>

namespace spnn::engine {
namespace {

// Sixteen samples from fixed seeds, so that sheets of different steps show the same faces getting better.
void write_sheet(const Denoiser& prior, const std::filesystem::path& file) {
  Observer silent;
  const auto images = spnn::sample(prior, {.steps = 50}, ImageSeeds(0, 16), silent);
  write_image(file, grid(images, {.columns = 8}));
}

}  // namespace

void Engine::train_prior(const TrainJob& job, Observer& observer) {
  const auto config = recipe_of<PriorConfig>(job, read_config(job.config));
  const TrainingSession session(job, observer);
  const auto sets = session.load_labelled(config.unet.image_size, config.unet.in_channels);
  PriorObjective objective(config, sets.train, sets.val, [&](const Denoiser& prior, std::int64_t step) {
    if (session.leads() && step % config.sheet_every == 0) {
      write_sheet(prior, session.file(fmt::format("samples-{:06}.png", step)));
    }
  });
  if (!job.from.empty()) session.start_from(objective, load_prior(job.from)->net());
  session.train(objective, config.train, {{"trainer", "prior"}, {"config", config}});
}

}  // namespace spnn::engine
