#pragma once

// The methods, one function each; method.h has the way in. Internal to restoration/ and its tests.

#include <spnn/diffusion/chain.h>
#include <spnn/restoration/method.h>

namespace spnn::field {

// Without a prior.
Tensor pinv(const Problem& p, const MethodConfig& c, Observer& observer);     // g†(y)
Tensor ibp(const Problem& p, const MethodConfig& c, Observer& observer);      // Irani & Peleg 1991: x ← x + μ Jᵀ(y − g(x))

// The null space of the operator is the prior's, the rest is y's.
Tensor nlbp(const Problem& p, const MethodConfig& c, Observer& observer);     // x̂0 ← NLBP(x̂0, y, λ), any g
Tensor ddnm(const Problem& p, const MethodConfig& c, Observer& observer);     // x̂0 ← x̂0 + A†(y − A x̂0)
Tensor ddnm_plus(const Problem& p, const MethodConfig& c, Observer& observer);
Tensor repaint(const Problem& p, const MethodConfig& c, Observer& observer);  // the seen part of x_s ← noised A†y, with time travel

Tensor nlbp_plus(const Problem& p, const MethodConfig& c, Observer& observer);

// Splitting: the prior's x̂0, then the measurement's, then noise again.
Tensor diffpir(const Problem& p, const MethodConfig& c, Observer& observer);
Tensor diffpir_pinv(const Problem& p, const MethodConfig& c, Observer& observer);
Tensor diffpir_nlbp(const Problem& p, const MethodConfig& c, Observer& observer);
Tensor daps(const Problem& p, const MethodConfig& c, Observer& observer);
Tensor red_diff(const Problem& p, const MethodConfig& c, Observer& observer);

// In the coordinates of the singular value decomposition.
Tensor ddrm(const Problem& p, const MethodConfig& c, Observer& observer);
Tensor snips(const Problem& p, const MethodConfig& c, Observer& observer);

// By gradients through the prior.
Tensor dps(const Problem& p, const MethodConfig& c, Observer& observer);      // x_s ← x_s − ζ ∇_{x_t} ‖y − g(x̂0(x_t))‖
Tensor mcg(const Problem& p, const MethodConfig& c, Observer& observer);      // the same, then the seen part ← noised A†y
Tensor pigdm(const Problem& p, const MethodConfig& c, Observer& observer);    // x_s ← x_s + √ᾱ_s√ᾱ_t (∂x̂0/∂x_t)ᵀ (g†(y) − g†(g(x̂0)))
Tensor mpgd(const Problem& p, const MethodConfig& c, Observer& observer);     // x̂0 ← x̂0 − c ∇_{x̂0} ‖y − g(x̂0)‖

struct GuidedPrediction {
  Tensor x0;         // x̂0(x_t), clamped if asked
  Tensor gradient;   // ∇_{x_t} ‖y − g(x̂0(x_t))‖ of each image by itself
};
GuidedPrediction guided_prediction(const Problem& p, const Tensor& x_t, std::int64_t t, bool clamp);

// x̂0(x_t) with its Jacobian at hand: `pulled(v)` is (∂x̂0/∂x_t)ᵀv, as often as wanted. For a denoiser that is the posterior mean
// it is symmetric, and (1 − ᾱ)/√ᾱ times it the covariance of x0 given x_t.
class DifferentiablePrediction {
 public:
  DifferentiablePrediction(const Denoiser& prior, const Tensor& x_t, std::int64_t t, bool clamp);
  const Tensor& x0() const { return value_; }
  Tensor pulled(const Tensor& v) const;

 private:
  Tensor at_, x0_, value_;
};

// What nlbp+ puts in the place of x̂0, given where to go from g(x̂0): see plus.cpp.
Tensor likely_back_projection(const Problem& p, const MethodConfig& c, const DifferentiablePrediction& prediction, const Tensor& aim, double alpha_bar);

// Jᵀr at x, J that of g, and r = y − g(x).
std::pair<Tensor, Tensor> back_projected(const BackProjector& g, const Tensor& x, const Tensor& y);

// A sample of p(x0 | x̂0, y) ∝ N(x0; x̂0, r²) N(y; g(x0), β²): exact in the SVD's coordinates; and by Langevin steps for any g.
struct Decoupled {
  Tensor x0_hat;
  double r;
  std::uint64_t draw;      // stream of its noise
  bool mean_only = false;  // the last level: no noise is left to add
};
Tensor decoupled_exactly(const Problem& p, const MethodConfig& c, const Decoupled& at);
Tensor decoupled_by_langevin(const Problem& p, const MethodConfig& c, const Decoupled& at);

// ∇_μ of λ√((1−ᾱ)/ᾱ) ⟨ε_θ(x_t) − ε, μ⟩ + n/(2m) ‖y − g(μ)‖², the first factor held fixed: RED-diff's loss times n, the number of pixels.
Tensor red_gradient(const Problem& p, const Tensor& mu, const Tensor& noise, std::int64_t t, double lambda);

// √((1−ᾱ)/ᾱ): the same process without its shrinking, x̃ = x_t/√ᾱ = x0 + σ ε; and the time whose σ is nearest on a logarithmic scale.
double sigma_at(const Schedule& schedule, std::int64_t t);
std::int64_t time_of(const Schedule& schedule, double sigma);

// Shared: x̂0 of a move; and x with its seen part replaced by A†y as the forward process has it at s, noise of the move's
// second stream.
Tensor x0_of(const Problem& p, const SamplerConfig& c, const Tensor& x_t, std::int64_t t);
Tensor with_seen_part(const Problem& p, const Tensor& x, const ReverseMove& move);

// y in the coordinates of Vᵀx: Uᵀy/S, zero where S = 0; max(σ_y, least)/S likewise (∞ where S = 0); and S > 0.
struct SpectralMeasurement {
  Tensor y_bar, sigma, seen;
};
SpectralMeasurement spectral(const Problem& p, double least = 0);

}  // namespace spnn::field
