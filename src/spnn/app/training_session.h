#pragma once

// What every supervised trainer does around its objective. Internal to app/.

#include <spnn/app/training.h>
#include <spnn/core/observer.h>
#include <spnn/data/dataset.h>
#include <spnn/training/trainer.h>

namespace spnn::app {

struct LabelledSets {
  Dataset train, val;
};

// Training images, and the validation images or, where a set has none (Fashion-MNIST), the test images. Says what it found.
LabelledSets load_labelled(const TrainJob& job, std::int64_t size, std::int64_t channels, Observer& observer);

// Runs or resumes the job with this objective.
void run_training(Objective& objective, const TrainConfig& config, const Json& run, const TrainJob& job, Observer& observer);

}  // namespace spnn::app
