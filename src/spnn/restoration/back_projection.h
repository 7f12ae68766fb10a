#pragma once

#include <spnn/diffusion/sampler.h>
#include <spnn/projection/back_projector.h>
#include <spnn/restoration/guidance.h>
#include <spnn/restoration/target.h>

namespace spnn {

// Where the outputs should go at time t, from where they are.
using Aim = std::function<Tensor(const Tensor& y_cur, std::int64_t t)>;
Aim at_every_step(Target target);

// The paper's correction of x̂0: inside the window, x̂0 is back-projected towards the aim with λ of each image, and brought
// back into the range of images: far from its data a network may send a pixel anywhere, and the next step would start from
// there. What that costs in consistency the final projections make good.
struct BackProjection {
  Aim aim;
  Guidance guidance = constant_lambda(1);
  Window window = {};
  std::function<bool(const SamplerStep&)> clamps = {};   // empty: at every step
};

// ensures: image i depends on its own row of the aim only; λ = 0 leaves an image as it is to the last bit. g must outlive it.
Correction back_projection(const BackProjector& g, BackProjection how);

// The share of the steps of such a run, from noise, that are guided.
double guided_part(const SamplerConfig& sampler, const Window& window, const Schedule& schedule);

}  // namespace spnn
