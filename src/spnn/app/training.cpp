#include <spnn/app/engine_impl.h>
#include <spnn/core/errors.h>
#include <spnn/diffusion/sampler.h>
#include <spnn/image/grid.h>
#include <spnn/training/prior.h>
#include <spnn/training/trainer.h>

namespace spnn::app {
namespace {

// Sixteen samples from fixed seeds, so that sheets of different steps show the same faces getting better.
void write_sheet(const Denoiser& prior, const std::filesystem::path& file) {
  Observer silent;
  const auto images = spnn::sample(prior, {.steps = 50}, ImageSeeds(0, 16), silent);
  write_image(file, grid(images, {.columns = 8}));
}

}  // namespace

void train_prior(const TrainJob& job, Observer& observer) {
  auto config = read_config(job.config).get<PriorConfig>();
  if (job.steps > 0) config.train.steps = job.steps;
  const auto train_set = load_dataset(job.data, {.split = Split::train, .size = config.unet.image_size});
  const auto val_set = load_dataset(job.data, {.split = Split::val, .size = config.unet.image_size});
  observer.message(fmt::format("{}: {} training and {} validation images, {}", train_set.name, train_set.size(),
                               val_set.size(), train_set.split_rule));
  RunDirectory run(job.run, {{"trainer", "prior"}, {"config", config}}, job.resume);
  PriorObjective objective(config, train_set, val_set, [&](const Denoiser& prior, std::int64_t step) {
    if (step % config.sheet_every == 0) write_sheet(prior, run.file(fmt::format("samples-{:06}.png", step)));
  });
  Communicator alone;
  spnn::train(objective, {.config = config.train, .run = run, .observer = observer, .communicator = alone, .resume = job.resume});
}

}  // namespace spnn::app
