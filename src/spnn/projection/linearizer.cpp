#include <spnn/core/errors.h>
#include <spnn/projection/linearizer.h>

namespace spnn {

AffineMap AffineMap::linear(const Tensor& A) {
  require(A.dim() == 2 && A.size(0) == A.size(1), "AffineMap", "a square matrix", to_string(A.sizes()));
  return {A.to(torch::kFloat64), torch::zeros({A.size(0)}, A.options().dtype(torch::kFloat64))};
}

AffineMap AffineMap::identity(std::int64_t d) { return linear(torch::eye(d, torch::kFloat64)); }

AffineMap AffineMap::scaled(std::int64_t d, std::int64_t n, double factor) {
  require(n >= 0 && n < d, "AffineMap::scaled", fmt::format("an output from 0 to {}", d - 1), std::to_string(n));
  auto map = identity(d);
  map.A[n][n] = factor;
  return map;
}

AffineMap AffineMap::setting(std::int64_t d, std::int64_t n, double value) {
  auto map = scaled(d, n, 0);
  map.b[n] = value;
  return map;
}

Tensor AffineMap::operator()(const Tensor& y) const {
  const auto flat = y.flatten(1);
  require(flat.size(1) == A.size(0), "AffineMap", fmt::format("{} numbers per image", A.size(0)), to_string(y.sizes()));
  return (flat.matmul(A.to(y.options()).t()) + b.to(y.options())).view_as(y);
}

AffineMap AffineMap::after(const AffineMap& first) const { return {A.matmul(first.A), A.mv(first.b) + b}; }

AffineMap AffineMap::power(std::int64_t n) const {
  require(n >= 0, "AffineMap::power", "a power of 0 or more (pinv() goes back)", std::to_string(n));
  auto result = identity(A.size(0)), square = *this;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = square.after(result);
    square = square.after(square);
  }
  return result;
}

AffineMap AffineMap::pinv() const {
  const auto back = torch::linalg_pinv(A, /*rcond=*/1e-12);
  return {back, -back.mv(b)};
}

Linearizer::Linearizer(std::shared_ptr<const BackProjector> g, AffineMap map, Lift lift) : g_(std::move(g)), map_(std::move(map)), lift_(lift) {
  require(g_ != nullptr, "Linearizer", "a projector", "none");
  const auto d = g_->out_shape().size();
  require(map_.A.size(0) == d && map_.b.size(0) == d, "Linearizer", fmt::format("a map of {} outputs", d), fmt::format("one of {}", map_.A.size(0)));
}

Tensor Linearizer::forward(const Tensor& x) const {
  if (lift_ == Lift::pseudo_inverse) return g_->pinv(map_(g_->forward(x)));
  const auto probe = g_->probe(x);
  return g_->nlbp(probe, map_(probe.y), torch::ones({}, x.options()));
}

AffineMap cycle_of(const Tensor& M) {
  const auto columns = AffineMap::linear(M).A;
  return AffineMap::linear(torch::linalg_solve(columns, columns.roll(-1, 1), /*left=*/false));
}

}  // namespace spnn
