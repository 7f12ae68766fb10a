#include <spnn/app/training_session.h>

namespace spnn::app {

LabelledSets load_labelled(const TrainJob& job, std::int64_t size, std::int64_t channels, Observer& observer) {
  LabelledSets sets;
  sets.train = load_dataset(job.data, {.split = Split::train, .size = size, .channels = channels});
  sets.val = load_dataset(job.data, {.split = Split::val, .size = size, .channels = channels});
  std::string_view held_out = "validation";
  if (sets.val.size() == 0) {
    sets.val = load_dataset(job.data, {.split = Split::test, .size = size, .channels = channels});
    held_out = "test";
  }
  observer.message(fmt::format("{}: {} training and {} {} images, {}", sets.train.name, sets.train.size(),
                               sets.val.size(), held_out, sets.train.split_rule));
  return sets;
}

void run_training(Objective& objective, const TrainConfig& config, const Json& run, const TrainJob& job,
                  Observer& observer) {
  RunDirectory directory(job.run, run, job.resume);
  Communicator alone;
  spnn::train(objective, {.config = config, .run = directory, .observer = observer, .communicator = alone,
                          .resume = job.resume});
}

}  // namespace spnn::app
