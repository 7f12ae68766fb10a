#pragma once

#include <spnn/diffusion/upscale.h>

namespace spnn {

// Two stages as one prior of large images, for every method that wants a Denoiser. In the orthonormal coordinates [A x | V₀ᵀx]
// noise of σ in the pixels of x is noise of σ/f in the small image and of σ over the detail's scale in z, so each stage is asked
// at the time of its own noise: the first one for Â0 = E[A x | A x_t], the second one for ẑ0 = E[z | z_t, A x_t]: noise in the
// small image that is told to it is what it was trained on. x̂0 = A†Â0 + V₀ẑ0. While the small image is noisier than the second
// stage ever saw, the detail is that of the bicubic enlargement.
class CascadeDenoiser final : public Denoiser {
 public:
  CascadeDenoiser(std::shared_ptr<const Denoiser> small, std::shared_ptr<const Upscaler> detail);

  Tensor eps(const Tensor& x_t, std::int64_t t) const override;
  Shape shape() const override;
  const Schedule& schedule() const override { return schedule_; }

  const Denoiser& small() const { return *small_; }
  const std::shared_ptr<const Upscaler>& detail() const { return detail_; }

 private:
  Tensor small_x0(const Tensor& low, double sigma) const;                        // from A x + σ·noise
  Tensor detail_z0(const Tensor& z, double sigma, const Tensor& low, double level) const;   // from z + σ·noise

  std::shared_ptr<const Denoiser> small_;
  std::shared_ptr<const Upscaler> detail_;
  Schedule schedule_;
};

// The time at which a schedule's noise over signal √((1−ᾱ)/ᾱ) is nearest to σ; −1 where σ is below half of its smallest.
std::int64_t time_of_noise(const Schedule& schedule, double sigma);

}  // namespace spnn
