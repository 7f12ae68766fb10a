#pragma once

#include <spnn/restoration/finalize.h>

namespace spnn {

// Any number of images in batches, each sampled, guided and finalized.
struct RestorationPlan {
  std::int64_t count = 0;
  std::int64_t batch = 16;
  std::function<RestorationTask(std::int64_t first, std::int64_t last)> task;   // of images first … last − 1
  RestorerConfig restorer = {};
  FinalizeConfig finalize = {};
  std::function<void(std::int64_t first, const Finalized&)> on_batch = {};      // e.g. saves: what is done survives an interrupt
};

// ensures: image i of the result is image i of the plan. Progress counts the denoising steps of all batches.
Finalized restore_all(const Denoiser& prior, const BackProjector& g, const RestorationPlan& plan, Observer& observer);

// Unguided samples in batches, as bytes.
Tensor sample_all(const Denoiser& prior, const SamplerConfig& config, std::uint64_t first_seed, std::int64_t count,
                  std::int64_t batch, Observer& observer);

}  // namespace spnn
