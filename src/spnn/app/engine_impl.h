#pragma once

// The functions behind the façade's virtuals, one topic a file.

#include <spnn/app/engine.h>

namespace spnn::app {

void train_prior(const TrainJob& job, Observer& observer);

}  // namespace spnn::app
