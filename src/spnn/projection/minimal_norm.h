#pragma once

#include <spnn/core/shape.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace spnn {

// Gofer and Gilboa's inverse of a non-linear map: of all x that g takes nearest to y, the one of the smallest norm,
//     g‡(y) = argmin { ‖x‖ : x ∈ argmin ‖g(x) − y‖ }.
// For a linear map it is Moore–Penrose's. It knows one norm, that of x, where the natural inverse knows the metric of a
// completion: under a change of coordinates x = φ⁻¹(u) the two part.

struct MinimalNormConfig {
  int outer = 40;               // updates of the multipliers
  int inner = 100;              // L-BFGS iterations for each
  double penalty = 1.0;         // μ at the start; grows while the residual does not fall fast enough
  double tolerance = 1e-9;      // of ‖g(x) − y‖∞
  int starts = 4;               // random ones; the feasible result of the smallest norm wins
  double start_scale = 1.0;
  std::uint64_t seed = 0;
};

struct MinimalNorm {
  Tensor x;                     // like the starts
  double norm = 0, residual = 0;
  bool converged = false;       // residual ≤ tolerance
};

// min ½‖x‖² subject to g(x) = y by the augmented Lagrangian ½‖x‖² + ⟨m, g(x) − y⟩ + μ/2 ‖g(x) − y‖². For small problems: every
// iteration evaluates g and its gradient. g: differentiable almost everywhere, on a tensor of the shape `sizes`; y in its
// range. Works in double. Further starts may be given, for maps whose gradient vanishes in places.
MinimalNorm minimal_norm_inverse(const std::function<Tensor(const Tensor&)>& g, const Tensor& y, torch::IntArrayRef sizes,
                                 const MinimalNormConfig& config = {}, const std::vector<Tensor>& further_starts = {});

// Elementwise maps and their g‡ in closed form, for every y, in the range or not.
Tensor relu_minimal_norm(const Tensor& y);                           // max(y, 0)
Tensor soft_threshold(const Tensor& x, double lambda);               // sign(x)·max(|x| − λ, 0)
Tensor soft_threshold_minimal_norm(const Tensor& y, double lambda);  // y + λ·sign(y), 0 at 0
Tensor hard_threshold(const Tensor& x, double lambda);               // x where |x| ≥ λ, 0 elsewhere
Tensor hard_threshold_minimal_norm(const Tensor& y, double lambda);  // the nearest of 0 and what is reached, |x| ≥ λ

}  // namespace spnn
