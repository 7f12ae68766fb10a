#pragma once

#include <spnn/diffusion/denoiser.h>

#include <ATen/ops/linalg_eigh.h>

#include <cmath>

namespace spnn::testing {

// The exact denoiser of images vec(x) ~ N(mean, Σ): E[x0 | x_t] = mean + K_t (x_t − √ᾱ mean), K_t = √ᾱ Σ (ᾱΣ + (1−ᾱ)I)⁻¹.
class CorrelatedPrior final : public Denoiser {
 public:
  CorrelatedPrior(Shape shape, Tensor mean, const Tensor& covariance) : shape_(shape), mean_(std::move(mean)) {
    std::tie(values_, vectors_) = at::linalg_eigh(covariance.to(torch::kFloat64));
  }

  // Neighbours look alike: σ² exp(−distance/length).
  static CorrelatedPrior smooth(Shape shape, double mean, double sigma, double length) {
    const auto row = torch::arange(shape.height, torch::kFloat64).repeat_interleave(shape.width);
    const auto column = torch::arange(shape.width, torch::kFloat64).repeat({shape.height});
    const auto apart = ((row.unsqueeze(0) - row.unsqueeze(1)).square() + (column.unsqueeze(0) - column.unsqueeze(1)).square()).sqrt();
    return {shape, torch::full({shape.size()}, mean, torch::kFloat64), sigma * sigma * (-apart / length).exp()};
  }

  Tensor gain(std::int64_t t) const {
    const double a = schedule_.alpha_bar(t);
    return (vectors_ * (std::sqrt(a) * values_ / (a * values_ + 1 - a))).mm(vectors_.t());
  }
  Tensor covariance() const { return (vectors_ * values_).mm(vectors_.t()); }
  const Tensor& mean() const { return mean_; }

  Tensor eps(const Tensor& x_t, std::int64_t t) const override {
    const double a = schedule_.alpha_bar(t);
    const auto m = mean_.to(x_t.options());
    const auto x = x_t.flatten(1);
    const auto x0 = m + (x - std::sqrt(a) * m).mm(gain(t).to(x.options()).t());
    return ((x - std::sqrt(a) * x0) / std::sqrt(1 - a)).reshape(x_t.sizes());
  }
  Shape shape() const override { return shape_; }
  const Schedule& schedule() const override { return schedule_; }

 private:
  Shape shape_;
  Tensor mean_, values_, vectors_;
  Schedule schedule_ = Schedule::linear();
};

}  // namespace spnn::testing
