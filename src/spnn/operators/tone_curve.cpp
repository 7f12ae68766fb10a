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

namespace {

// The standard's constants, with the threshold where line and power meet exactly (the published 0.0031308 leaves a step
// of 3e-8 between them).
constexpr double slope = 12.92, offset = 0.055, gamma = 2.4, threshold = 0.00313066844250063;

Tensor encoded(const Tensor& light) {
  const auto power = (1 + offset) * torch::pow(light.clamp_min(threshold), 1 / gamma) - offset;
  return torch::where(light < threshold, light * slope, power);
}

Tensor decoded(const Tensor& stored) {
  const auto power = torch::pow((stored.clamp_min(threshold * slope) + offset) / (1 + offset), gamma);
  return torch::where(stored < threshold * slope, stored / slope, power);
}

// Linear interpolation between knots, the outer segments continued: Σ of ramps, so that autograd sees slopes.
Tensor piecewise(const Tensor& u, const std::vector<double>& from, const std::vector<double>& to) {
  auto out = torch::full_like(u, to.front());
  const auto last = from.size() - 2;
  for (std::size_t k = 0; k <= last; ++k) {
    auto part = u;
    if (k > 0) part = part.clamp_min(from[k]);
    if (k < last) part = part.clamp_max(from[k + 1]);
    out = out + (part - from[k]) * ((to[k + 1] - to[k]) / (from[k + 1] - from[k]));
  }
  return out;
}

}  // namespace

Tensor SrgbCurve::forward(const Tensor& x) const { return pixel(encode_ ? encoded(intensity(x)) : decoded(intensity(x))); }
Tensor SrgbCurve::inverse(const Tensor& y) const { return pixel(encode_ ? decoded(intensity(y)) : encoded(intensity(y))); }

KnotCurve::KnotCurve(std::vector<std::pair<double, double>> knots) {
  const bool ends = knots.size() >= 2 && knots.front() == std::pair(0.0, 0.0) && knots.back() == std::pair(1.0, 1.0);
  require(ends, "KnotCurve", "knots from 0/0 to 1/1", fmt::format("{} knots", knots.size()));
  for (const auto& [w, v] : knots) {
    require(w_.empty() || (w > w_.back() && v > v_.back()), "KnotCurve", "a strictly increasing curve", fmt::format("{}/{}", w, v));
    w_.push_back(w);
    v_.push_back(v);
  }
}

Tensor KnotCurve::forward(const Tensor& x) const { return pixel(piecewise(intensity(x), w_, v_)); }
Tensor KnotCurve::inverse(const Tensor& y) const { return pixel(piecewise(intensity(y), v_, w_)); }

}  // namespace spnn
