#pragma once

#include <spnn/networks/spnn.h>
#include <spnn/operators/linear_operator.h>

#include <string>
#include <vector>

namespace spnn {

// One measured identity: the largest absolute deviation, and the same relative to 1 + |what it should be|, which is
// what the tolerance bounds.
struct Residual {
  std::string name;
  double absolute = 0;
  double relative = 0;
  double tolerance = 0;
  bool passed() const { return relative <= tolerance; }   // false for NaN
};

struct Verification {
  std::vector<Residual> residuals;   // in the order of verify_network's list
  double plain_drift_of_learned_r = 0;   // not a law: how far the plain metric moves q(x) when r is not constant
  bool passed() const;
};

struct VerifyOptions {
  double tolerance = 0;              // 0: 1e-4 in float, 1e-11 in double (more where the network's own ε asks for it)
};

// Measures on inputs x and targets y (one per input):
//   round_trip           G⁻¹(G(x)) = x, plain and residual
//   right_inverse        g(g†(y)) = y
//   penrose_1            g g† g = g
//   penrose_2            g† g g† = g†
//   orthogonality        UᵀU = I for every U
//   nlbp_consistency     g(NLBP(x, y, λ)) = (1−λ)g(x) + λy, λ = 0.3 and 1, both metrics
//   null_drift_plain     q(x') is what the plain equation says: unmoved for `origin`, moved by λ(r(·) − r(·)) for `learned`
//   null_drift_residual  q_r(x') = q_r(x)
// Pseudo-inverses: learned and origin in the plain metric, anchored in the residual one.
Verification verify_network(std::shared_ptr<const Spnn> net, const Tensor& x, const Tensor& y,
                            const VerifyOptions& options = {});

// The same for g∘A, in the same order: large images x, and the network's outputs y.
Verification verify_composed(std::shared_ptr<const Spnn> net, std::shared_ptr<const LinearOperator> A, const Tensor& x, const Tensor& y,
                             const VerifyOptions& options = {});

}  // namespace spnn
