#include <spnn/core/errors.h>
#include <spnn/operators/svd.h>

namespace spnn {

SvdParts svd_parts(const Tensor& A, std::string_view where) {
  require(A.dim() == 2 && A.size(0) > 0 && A.size(0) <= A.size(1), where, "a matrix with at most as many rows as columns",
          A.dim() == 2 ? fmt::format("{}×{}", A.size(0), A.size(1)) : fmt::format("{} dimensions", A.dim()));
  const auto exact = A.detach().to(torch::kCPU, torch::kFloat64);
  const auto [U, S, Vh] = torch::linalg_svd(exact, /*full_matrices=*/true, c10::nullopt);
  const auto m = exact.size(0);
  const double largest = S[0].item<double>(), smallest = S[m - 1].item<double>();
  require(smallest > 1e-10 * largest, where, "full row rank",
          fmt::format("singular values from {:.3g} to {:.3g}", largest, smallest), "a map that is not onto has no right inverse");
  const auto V = Vh.t();
  const auto A_pinv = V.narrow(1, 0, m).div(S).mm(U.t());
  return {exact, A_pinv, V.narrow(1, m, exact.size(1) - m).contiguous()};
}

SvdParts to(const SvdParts& parts, const Tensor& like) {
  const auto options = like.options();
  return {parts.A.to(options), parts.A_pinv.to(options), parts.V0.to(options)};
}

}  // namespace spnn
