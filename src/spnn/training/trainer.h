#pragma once

#include <spnn/core/observer.h>
#include <spnn/training/communicator.h>
#include <spnn/training/run_directory.h>
#include <spnn/training/train_config.h>

namespace spnn {

// Minimises an objective for config.steps steps. A killed run continued with resume ends with the same bits as one that
// was never interrupted (same number of threads). Throws Interrupted after saving when the observer of one process cancels,
// and Error naming the step and the loss part or the weights that are not finite; the last good checkpoint stays. A resume
// whose newest state is damaged says so and goes on from the one before it. Processes that do not begin alike are refused.
struct TrainJob {
  TrainConfig config;
  RunDirectory& run;
  Observer& observer;
  Communicator& communicator;
  bool resume = false;
};

void train(Objective& objective, const TrainJob& job);

}  // namespace spnn
