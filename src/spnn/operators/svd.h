#pragma once

#include <torch/types.h>

#include <string_view>

namespace spnn {

using torch::Tensor;

// A matrix A [m, n], m ≤ n, by its singular value decomposition in double.
struct SvdParts {
  Tensor U;   // [m, m]
  Tensor S;   // [m], descending
  Tensor V;   // [n, n]; columns from m on span what A does not see
};

SvdParts svd_of(const Tensor& A, std::string_view where);

// requires  full row rank besides (else A is not onto and has no right inverse); throws Error naming `where`.
SvdParts svd_of_full_rank(const Tensor& A, std::string_view where);

}  // namespace spnn
