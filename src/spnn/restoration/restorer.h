#pragma once

#include <spnn/diffusion/sampler.h>
#include <spnn/projection/back_projector.h>
#include <spnn/restoration/guidance.h>
#include <spnn/restoration/target.h>

namespace spnn {

// How x̂0 is moved towards y.
enum class Update {
  nlbp,    // in the projector's completion: g(x') = (1−λ) g(x) + λ y
  naive,   // x + λ (g†(y) − g†(g(x))), for the ablation
};

Tensor move_towards(const BackProjector& g, Update update, const Probe& at, const Tensor& y, const Tensor& lambda);

struct RestorerConfig {
  SamplerConfig sampler = {};
  Window window = {};
  Update update = Update::nlbp;
};

// What is wanted of a batch.
struct RestorationTask {
  Target target;
  Guidance guidance;
  ImageSeeds seeds;
  SamplerStart start = {};                                 // noise, or a photo
  std::function<void(const SamplerStep&)> on_step = {};    // sees every corrected x̂0
};

// Samples the prior and, inside the window, back-projects x̂0 (clamped to [−1, 1] before) on the target with λ of each
// image. requires: prior and g of one image shape. ensures: image i depends on its own seed, target and photo only.
Tensor restore(const Denoiser& prior, const BackProjector& g, const RestorerConfig& config, const RestorationTask& task,
               Observer& observer);

// The share of the steps of such a run, from noise, that are guided.
double guided_part(const RestorerConfig& config, const Schedule& schedule);

}  // namespace spnn
