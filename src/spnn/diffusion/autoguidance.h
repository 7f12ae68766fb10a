#pragma once

#include <spnn/core/config.h>
#include <spnn/diffusion/denoiser.h>

#include <memory>

namespace spnn {

// How far a prior is led away from a weak one: ε + weight·(ε − ε_weak) at times to ≤ t < from.
struct Autoguidance {
  double weight = 1;
  std::int64_t from = 1000, to = 0;

  friend bool operator==(const Autoguidance&, const Autoguidance&) = default;
};

Json to_json(const Autoguidance& lead);
Autoguidance autoguidance_from(const Json& json, const std::string& where);   // numbers out of range are errors

// A prior and a weak one of the same images: smaller, hardly trained. Where the two differ, the weak one makes the mistakes of the good one,
// only more of them, so that away from it lie better images (autoguidance; Karras et al., Guiding a Diffusion Model with a Bad Version of Itself,
// 2024). It narrows what is drawn, so it is for drawing without a wish: where y is given, y says what the image is like.
class AutoguidedDenoiser final : public Denoiser {
 public:
  // Both of one shape and schedule.
  AutoguidedDenoiser(std::shared_ptr<const Denoiser> good, std::shared_ptr<const Denoiser> weak, const Autoguidance& lead);

  Tensor eps(const Tensor& x_t, std::int64_t t) const override;
  Shape shape() const override { return good_->shape(); }
  const Schedule& schedule() const override { return good_->schedule(); }

  const std::shared_ptr<const Denoiser>& good() const { return good_; }
  const std::shared_ptr<const Denoiser>& weak() const { return weak_; }
  const Autoguidance& lead() const { return lead_; }

 private:
  std::shared_ptr<const Denoiser> good_, weak_;
  Autoguidance lead_;
};

// The prior itself, without what leads it.
std::shared_ptr<const Denoiser> unled(const std::shared_ptr<const Denoiser>& prior);

// The prior led with another weight; 0 is the prior itself. One that has no weak prior stays what it is.
std::shared_ptr<const Denoiser> led(const std::shared_ptr<const Denoiser>& prior, double weight);

}  // namespace spnn
