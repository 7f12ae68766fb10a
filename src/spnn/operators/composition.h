#pragma once

#include <spnn/operators/linear_operator.h>

#include <memory>

namespace spnn {

using LinearOperatorPtr = std::shared_ptr<const LinearOperator>;

// outer∘inner with its Moore–Penrose inverse. The product of the two pseudo-inverses is not one in general, so only what
// has a singular value decomposition is accepted:
//   - both separable: the product of the factors is separable (a blur, then a reduction);
//   - inner tight, A Aᵀ = c²I (average pooling, grey, Walsh–Hadamard): then outer·c·Q with orthonormal rows Q, and
//     U Σ_outer V_outerᵀ Q is the decomposition;
//   - at most `dense_limit` pixels: the dense matrix.
// Anything else is refused with these words. `cut` as SeparableConfig's, for the first case.
LinearOperatorPtr compose(const LinearOperatorPtr& outer, const LinearOperatorPtr& inner, double cut = 0);

inline constexpr std::int64_t dense_limit = 1024;

// The matrix of a linear operator, column by column, in double: [m, n]. For tests and small sizes.
Tensor matrix_of(const Operator& g);

}  // namespace spnn
