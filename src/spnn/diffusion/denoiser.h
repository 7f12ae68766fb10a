#pragma once

#include <spnn/core/shape.h>
#include <spnn/diffusion/schedule.h>

namespace spnn {

// A diffusion prior: predicts the noise in x_t. Implementations are immutable and may be shared between threads.
class Denoiser {
 public:
  virtual ~Denoiser() = default;
  virtual Tensor eps(const Tensor& x_t, std::int64_t t) const = 0;
  virtual Shape shape() const = 0;
  virtual const Schedule& schedule() const = 0;
};

// x̂0 = (x_t − √(1−ᾱ_t) ε) / √ᾱ_t, and back.
Tensor x0_from_eps(const Schedule& schedule, const Tensor& x_t, const Tensor& eps, std::int64_t t);
Tensor eps_from_x0(const Schedule& schedule, const Tensor& x_t, const Tensor& x0, std::int64_t t);
Tensor predict_x0(const Denoiser& prior, const Tensor& x_t, std::int64_t t);

}  // namespace spnn
