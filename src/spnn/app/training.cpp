#include <spnn/app/engine_impl.h>
#include <spnn/core/errors.h>
#include <spnn/training/prior.h>
#include <spnn/training/trainer.h>

namespace spnn::app {

void train_prior(const TrainJob& job, Observer& observer) {
  auto config = read_config(job.config).get<PriorConfig>();
  if (job.steps > 0) config.train.steps = job.steps;
  const auto train_set = load_dataset(job.data, {.split = Split::train, .size = config.unet.image_size});
  const auto val_set = load_dataset(job.data, {.split = Split::val, .size = config.unet.image_size});
  observer.message(fmt::format("{}: {} training and {} validation images, {}", train_set.name, train_set.size(),
                               val_set.size(), train_set.split_rule));
  PriorObjective objective(config, train_set, val_set);
  RunDirectory run(job.run, {{"trainer", "prior"}, {"config", config}}, job.resume);
  Communicator alone;
  spnn::train(objective, {.config = config.train, .run = run, .observer = observer, .communicator = alone, .resume = job.resume});
}

}  // namespace spnn::app
