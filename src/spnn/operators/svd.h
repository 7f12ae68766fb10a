#pragma once

#include <torch/types.h>

#include <string_view>

namespace spnn {

using torch::Tensor;

// A matrix A [m, n] of full row rank with what makes it pseudo-invertible: A† and an orthonormal basis V₀ of its null
// space, from the singular value decomposition in double, rounded once per type.
struct SvdParts {
  Tensor A;           // [m, n]
  Tensor A_pinv;      // [n, m]
  Tensor V0;          // [n, n − m]
};

// requires  m ≤ n and full row rank (else A is not onto and has no right inverse); throws Error naming `where`.
SvdParts svd_parts(const Tensor& A, std::string_view where);

SvdParts to(const SvdParts& parts, const Tensor& like);   // in the type and on the device of `like`

}  // namespace spnn
