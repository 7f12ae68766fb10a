#include <spnn/restoration/evidence.h>

#include <ATen/ops/special_erfcx.h>

#include <cmath>
#include <numbers>

namespace spnn::field {
namespace {

Evidence of_noisy_directions(const Problem& p, const Trust& trust, double alpha_bar, const torch::TensorOptions& like) {
  const auto& A = *p.g.linear;
  const auto S = A.S().to(like);
  const auto seen = S > 0;
  const auto inverse = torch::where(seen, 1 / S, torch::zeros_like(S));
  return {.T = [&A, S](const Tensor& x) { return A.Vt(x) * S; },
          .adjoint = [&A, S](const Tensor& w) { return A.V(w * S); },
          .pinv = [&A, inverse](const Tensor& c) { return A.V(c * inverse); },
          .mean = torch::where(seen, A.Ut(p.y), torch::zeros_like(S)),
          .variance = trust.error().to(like),   // [1 or B, 1]
          .open = trust.left_open(alpha_bar).to(like) * S.square()};
}

Evidence of_rounded_coefficients(const Problem& p, const Tensor& x0, double alpha_bar) {
  const auto& g = *p.g.rounding;
  const auto k = g.coefficients(p.y).round();
  const auto at = g.coefficients(x0);
  // Over pictures a coefficient varies as y's own of the same frequency do, and by what rounding hides of them.
  const auto signal = k.square().mean({2, 4}, /*keepdim=*/true) + 1.0 / 12;
  const auto noise = g.gains().to(x0.options()).square() * ((1 - alpha_bar) / alpha_bar);
  const auto open = (signal * noise / (signal + noise)).expand_as(k);
  const auto cut = cut_to_unit(at - k, open);
  constexpr double least = 1e-4;   // 1 − p/v of a coefficient that y says nothing of: its Gaussian would be infinitely wide
  const auto told = (1 - cut.variance.to(x0.options()) / open).clamp(least, 1 - least);
  const auto variance = open * (1 - told) / told;
  return {.T = [&g](const Tensor& x) { return g.scaled(x); },
          .adjoint = [&g](const Tensor& w) { return g.adjoint(w); },
          .pinv = [&g](const Tensor& c) { return g.unscaled(c); },
          .mean = g.scaled(x0) + (k + cut.mean.to(x0.options()) - at) / told,
          .variance = variance,
          .open = open};
}

}  // namespace

bool has_evidence(const Problem& p, const MethodConfig& c, const Trust& trust) {
  if (c.exact) return false;
  return p.g.rounding ? !p.sigma_y.any() : p.g.linear && trust.in_directions();
}

Evidence evidence_of(const Problem& p, const Trust& trust, const Tensor& x0, double alpha_bar) {
  return p.g.rounding ? of_rounded_coefficients(p, x0, alpha_bar) : of_noisy_directions(p, trust, alpha_bar, x0.options());
}

// With the mean d left of the middle, a = (−½ − d)/τ, b = (½ − d)/τ ≥ |a|, and h = (φ(a) − φ(b))/(Φ(b) − Φ(a)):
//     d + τ h   and   τ² (1 + (a φ(a) − b φ(b))/(Φ(b) − Φ(a)) − h²).
// Everything is divided by φ(a) where a > 0, so that means far outside of the interval keep their digits.
CutNormal cut_to_unit(const Tensor& mean, const Tensor& variance) {
  constexpr double widest = 100;   // deviations beyond it leave the interval's own mean and variance, 0 and 1/12, to 1e-5
  const auto side = torch::where(mean > 0, -1.0, 1.0).to(torch::kFloat64);
  const auto d = mean.to(torch::kFloat64) * side, tau = variance.to(torch::kFloat64).sqrt().clamp(1e-6, widest);
  const auto a = (-0.5 - d) / tau, b = (0.5 - d) / tau;
  const auto outside = a > 0;
  const double root = std::numbers::sqrt2;
  const auto ratio = torch::exp((a.square() - b.square()) / 2);   // φ(b)/φ(a)
  const auto far = (at::special_erfcx(a.clamp_min(0) / root) - ratio * at::special_erfcx(b / root)) * std::sqrt(std::numbers::pi / 2);
  const auto near = (torch::erf(b / root) - torch::erf(a.clamp_max(0) / root)) * std::sqrt(std::numbers::pi / 2) * torch::exp(a.clamp_max(0).square() / 2).clamp_max(1e300);
  const auto share = torch::where(outside, far, near).clamp_min(1e-300);   // (Φ(b) − Φ(a))/φ(a)
  const auto h = (1 - ratio) / share;
  const auto moved = d + tau * h;
  const auto spread = tau.square() * (1 + (a - b * ratio) / share - h.square());
  return {moved.clamp(-0.5, 0.5) * side, spread.clamp_min(0)};
}

}  // namespace spnn::field
