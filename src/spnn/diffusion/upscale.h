#pragma once

#include <spnn/diffusion/sampler.h>
#include <spnn/networks/upscaler.h>

#include <memory>

namespace spnn {

// The second stage of a cascade for given small images: a prior of their detail z = V₀ᵀx.
class UpscalerDenoiser final : public Denoiser {
 public:
  // `level`: how much noise is laid over the small images before the network sees them (so much was told in training too);
  // it forgives a first stage what real images would not have. What is returned keeps the small images as they are.
  UpscalerDenoiser(std::shared_ptr<const Upscaler> net, const Tensor& low, double level, const Tensor& noise = {});

  Tensor eps(const Tensor& z_t, std::int64_t t) const override;
  Shape shape() const override;
  const Schedule& schedule() const override { return schedule_; }

 private:
  std::shared_ptr<const Upscaler> net_;
  Tensor guide_;
  Schedule schedule_;
};

// ẑ0 at time t of a schedule.
Tensor detail_at(const Upscaler& net, const Tensor& z_t, const Tensor& guide, std::int64_t t, const Schedule& schedule);

struct UpscaleConfig {
  SamplerConfig sampler = {.steps = 20};
  double level = 0.2;   // noise laid over the small image, as in training: the more, the more of the detail is the second stage's own
};

// What takes the place of x̂0, the whole image in [−1, 1], at every step; its small image may differ from the one given.
using ImageCorrection = std::function<Tensor(const Tensor& x0_hat, std::int64_t t)>;

// Large images with A x = low: every x̂0 is clamped to [−1, 1], corrected, and back-projected onto A x = low.
//   ensures  A x = low to rounding; image i depends on low[i] and seeds[i] only.
Tensor upscale(const std::shared_ptr<const Upscaler>& net, const Tensor& low, const UpscaleConfig& config, const ImageSeeds& seeds,
               Observer& observer, const ImageCorrection& correction = {});

// A photo with another small image, A x' = low: the back-projection in the residual completion [A x | V₀ᵀx − r(A x)]. What the photo
// has beyond the expected detail r of its small image is kept, what is expected of the new one takes the place of what was
// expected of the old. r is the second stage's mean, or the detail of the bicubic enlargement. low = A x gives x.
Tensor transport(const Upscaler& net, const Tensor& x, const Tensor& low, bool learned = true);

}  // namespace spnn
