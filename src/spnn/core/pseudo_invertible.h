#pragma once

#include <spnn/core/completion.h>

#include <concepts>

namespace spnn {

// What back-projection, restoration and verification work on: an SPNN, a single block, a linear operator, A∘φ.
//   requires  g(g†(y)) = y and G⁻¹(G(x)) = x to rounding.
template <class T>
concept PseudoInvertible = requires(const T& g, const Tensor& x, const Tensor& y, const Completion& yz) {
  { g.forward(x) } -> std::same_as<Tensor>;         // g(x)
  { g.complete(x) } -> std::same_as<Completion>;    // G(x) = [g(x) | q(x)]
  { g.invert(yz) } -> std::same_as<Tensor>;         // G⁻¹([y | z])
  { g.pinv(y) } -> std::same_as<Tensor>;            // g†(y)
};

}  // namespace spnn
