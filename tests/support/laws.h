#pragma once

#include <gtest/gtest.h>
#include <spnn/core/pseudo_invertible.h>
#include <spnn/core/rng.h>
#include <spnn/projection/nlbp.h>

#include "support/tensor_near.h"

namespace spnn::testing {

// The laws of the family, to be run over every block, network, view and operator. x and y are generic.
template <PseudoInvertible Map>
void expect_laws(const Map& g, const Tensor& x, const Tensor& y, double tolerance) {
  const torch::NoGradGuard no_grad;
  const auto G_x = g.complete(x);
  EXPECT_THAT(G_x.y, TensorNear(g.forward(x), tolerance)) << "g is the first part of G";
  EXPECT_THAT(g.invert(G_x), TensorNear(x, tolerance)) << "G⁻¹(G(x)) = x";
  EXPECT_THAT(g.forward(g.pinv(y)), TensorNear(y, tolerance)) << "g(g†(y)) = y";
  const auto back = g.pinv(g.forward(x));
  EXPECT_THAT(g.forward(back), TensorNear(g.forward(x), tolerance)) << "g g† g = g";
  EXPECT_THAT(g.pinv(g.forward(g.pinv(y))), TensorNear(g.pinv(y), tolerance)) << "g† g g† = g†";
  for (const double lambda : {0.3, 1.0}) {
    const auto moved = nlbp(g, x, y, lambda);
    const Tensor expected = (1 - lambda) * g.forward(x) + lambda * y;
    EXPECT_THAT(g.forward(moved), TensorNear(expected, tolerance)) << "g(NLBP) = (1−λ)g(x) + λy";
  }
  // G is onto as well: completions that no forward pass produced invert and come back.
  auto perturbed = G_x;
  for (std::size_t l = 0; l < perturbed.z.size(); ++l) {
    perturbed.z[l] = perturbed.z[l] + 0.1 * Rng(l).randn(perturbed.z[l].sizes(), perturbed.z[l].options());
  }
  const auto again = g.complete(g.invert(perturbed));
  EXPECT_THAT(again.y, TensorNear(perturbed.y, tolerance));
  for (std::size_t l = 0; l < perturbed.z.size(); ++l) {
    EXPECT_THAT(again.z[l], TensorNear(perturbed.z[l], tolerance)) << "z of level " << l;
  }
}

inline constexpr double double_tolerance = 1e-9;
inline constexpr double float_tolerance = 1e-4;

inline double tolerance_of(torch::Dtype type) {
  return type == torch::kFloat64 ? double_tolerance : float_tolerance;
}

}  // namespace spnn::testing
