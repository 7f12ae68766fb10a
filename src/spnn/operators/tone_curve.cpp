#include <spnn/core/errors.h>
#include <spnn/operators/tone_curve.h>

#include <cmath>

namespace spnn {
namespace {

Tensor intensity(const Tensor& x) { return (x + 1) * 0.5; }
Tensor pixel(const Tensor& w) { return w * 2 - 1; }

}  // namespace

GammaCurve::GammaCurve(double gamma, double offset) : gamma_(gamma), offset_(offset) {
  require(gamma > 0 && offset > 0, "GammaCurve", "a positive gamma and offset", fmt::format("{} and {}", gamma, offset));
  low_ = std::pow(offset, gamma);
  span_ = std::pow(1 + offset, gamma) - low_;
  slope_ = gamma * std::pow(offset, gamma - 1) / span_;
}

Tensor GammaCurve::forward(const Tensor& x) const {
  const auto w = intensity(x);
  const auto curve = (torch::pow(w.clamp_min(0) + offset_, gamma_) - low_) / span_;
  return pixel(torch::where(w < 0, w * slope_, curve));
}

Tensor GammaCurve::inverse(const Tensor& y) const {
  const auto v = intensity(y);
  const auto curve = torch::pow(v.clamp_min(0) * span_ + low_, 1 / gamma_) - offset_;
  return pixel(torch::where(v < 0, v / slope_, curve));
}

LogCurve::LogCurve(double k) : k_(k), scale_(std::log1p(k)), slope_(k / std::log1p(k)) {
  require(k > 0, "LogCurve", "a positive k", fmt::format("{}", k));
}

Tensor LogCurve::forward(const Tensor& x) const {
  const auto w = intensity(x);
  return pixel(torch::where(w < 0, w * slope_, torch::log1p(w.clamp_min(0) * k_) / scale_));
}

Tensor LogCurve::inverse(const Tensor& y) const {
  const auto v = intensity(y);
  return pixel(torch::where(v < 0, v / slope_, torch::expm1(v.clamp_min(0) * scale_) / k_));
}

CompandingCurve::CompandingCurve(double mu) : mu_(mu), scale_(std::log1p(mu)) {
  require(mu > 0, "CompandingCurve", "a positive mu", fmt::format("{}", mu));
}

Tensor CompandingCurve::forward(const Tensor& x) const {
  return torch::sign(x) * torch::log1p(x.abs() * mu_) / scale_;
}

Tensor CompandingCurve::inverse(const Tensor& y) const {
  return torch::sign(y) * torch::expm1(y.abs() * scale_) / mu_;
}

}  // namespace spnn
