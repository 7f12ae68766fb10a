#include <spnn/core/errors.h>
#include <spnn/operators/svd.h>

#include <ATen/ops/linalg_svd.h>

namespace spnn {

SvdParts svd_of(const Tensor& A, std::string_view where) {
  require(A.dim() == 2 && A.size(0) > 0 && A.size(0) <= A.size(1), where, "a matrix with at most as many rows as columns",
          A.dim() == 2 ? fmt::format("{}×{}", A.size(0), A.size(1)) : fmt::format("{} dimensions", A.dim()));
  const auto [U, S, Vh] = at::linalg_svd(A.detach().to(torch::kCPU, torch::kFloat64), /*full_matrices=*/true);
  return {U, S, Vh.t().contiguous()};
}

SvdParts svd_of_full_rank(const Tensor& A, std::string_view where) {
  auto parts = svd_of(A, where);
  const double largest = parts.S[0].item<double>(), smallest = parts.S[-1].item<double>();
  require(smallest > 1e-10 * largest, where, "full row rank",
          fmt::format("singular values from {:.3g} to {:.3g}", largest, smallest), "a map that is not onto has no right inverse");
  return parts;
}

}  // namespace spnn
