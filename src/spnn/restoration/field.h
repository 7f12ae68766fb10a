#pragma once

// The methods, one function each; method.h has the way in. Internal to methods/ and its tests.

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

// In the coordinates of the singular value decomposition.
Tensor ddrm(const Problem& p, const MethodConfig& c, Observer& observer);
Tensor snips(const Problem& p, const MethodConfig& c, Observer& observer);

// By gradients through the prior.
Tensor dps(const Problem& p, const MethodConfig& c, Observer& observer);      // x_s ← x_s − ζ ∇_{x_t} ‖y − g(x̂0(x_t))‖
Tensor mcg(const Problem& p, const MethodConfig& c, Observer& observer);      // the same, then the seen part ← noised A†y

struct GuidedPrediction {
  Tensor x0;         // x̂0(x_t), clamped if asked
  Tensor gradient;   // ∇_{x_t} ‖y − g(x̂0(x_t))‖ of each image by itself
};
GuidedPrediction guided_prediction(const Problem& p, const Tensor& x_t, std::int64_t t, bool clamp);

// Shared: x̂0 of a move; and x with its seen part replaced by A†y as the forward process has it at s, noise of the move's
// second stream.
Tensor x0_of(const Problem& p, const SamplerConfig& c, const Tensor& x_t, std::int64_t t);
Tensor with_seen_part(const Problem& p, const Tensor& x, const ReverseMove& move);

// y in the coordinates of Vᵀx: Uᵀy/S, zero where S = 0; σ_y/S likewise (∞ where S = 0); and S > 0.
struct SpectralMeasurement {
  Tensor y_bar, sigma, seen;
};
SpectralMeasurement spectral(const Problem& p);

}  // namespace spnn::field
