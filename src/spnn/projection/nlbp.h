#pragma once

#include <spnn/core/pseudo_invertible.h>
#include <spnn/projection/back_projector.h>

#include <utility>

namespace spnn {

// The paper's equation, literally, for anything pseudo-invertible:
//     x' = G⁻¹( G(x) + λ[ G(g†(y)) − G(g†(g(x))) ] ).
// Four passes forward and three back; SpnnProjector needs one and two, or one and one.
template <PseudoInvertible Map>
Tensor nlbp(const Map& g, const Tensor& x, const Tensor& y, const Tensor& lambda) {
  const Completion step = g.complete(g.pinv(y)) - g.complete(g.pinv(g.forward(x)));
  return g.invert(g.complete(x) + lambda * step);
}

template <PseudoInvertible Map>
Tensor nlbp(const Map& g, const Tensor& x, const Tensor& y, double lambda = 1.0) {
  return nlbp(g, x, y, torch::scalar_tensor(lambda, x.options()));
}

// x + λ (g†(y) − g†(g(x))): the linear formula taken over as it is.
template <PseudoInvertible Map>
Tensor naive_back_projection(const Map& g, const Tensor& x, const Tensor& y, double lambda = 1.0) {
  return x + lambda * (g.pinv(y) - g.pinv(g.forward(x)));
}

}  // namespace spnn
