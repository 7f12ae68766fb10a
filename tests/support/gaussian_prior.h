#pragma once

#include <spnn/diffusion/denoiser.h>

#include <cmath>

namespace spnn::testing {

// The exact denoiser of images whose pixels are independent N(mean, σ²): x_t ~ N(√ᾱ mean, ᾱσ² + 1 − ᾱ), so
// E[ε | x_t] = √(1−ᾱ) (x_t − √ᾱ mean) / (ᾱσ² + 1 − ᾱ).
class GaussianPrior final : public Denoiser {
 public:
  GaussianPrior(Shape shape, double mean, double sigma) : shape_(shape), mean_(mean), sigma_(sigma) {}

  Tensor eps(const Tensor& x_t, std::int64_t t) const override {
    const double a = schedule_.alpha_bar(t);
    return (x_t - std::sqrt(a) * mean_) * (std::sqrt(1 - a) / (a * sigma_ * sigma_ + 1 - a));
  }
  Shape shape() const override { return shape_; }
  const Schedule& schedule() const override { return schedule_; }

 private:
  Shape shape_;
  double mean_, sigma_;
  Schedule schedule_ = Schedule::linear();
};

}  // namespace spnn::testing
