#include <spnn/core/errors.h>
#include <spnn/operators/row_space_operator.h>

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/geqrf.h>
#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/ormqr.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <numbers>

namespace spnn {
namespace {

// Q c or Qᵀ c, Q by its reflections. libtorch has no derivative of ormqr; with Q fixed it is the transposed product.
struct ReflectedColumns : torch::autograd::Function<ReflectedColumns> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& reflectors, const Tensor& scales, const Tensor& columns, bool transpose) {
    context->save_for_backward({reflectors, scales});
    context->saved_data["transpose"] = transpose;
    return at::ormqr(reflectors, scales, columns.contiguous(), /*left=*/true, transpose);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context, const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const bool transpose = context->saved_data["transpose"].toBool();
    return {{}, {}, at::ormqr(saved[0], saved[1], gradients[0].contiguous(), /*left=*/true, !transpose), {}};
  }
};

}  // namespace

RowSpaceOperator::RowSpaceOperator(const RowSpaceConfig& c, std::string where) : LinearOperator(where), in_(c.in), out_(c.out) {
  const auto n = in_.height * in_.width, m = out_.height * out_.width;
  require(c.A.dim() == 2 && c.A.size(0) == m && c.A.size(1) == n && in_.channels == out_.channels, where,
          fmt::format("a matrix of {} × {} and as many channels before as after", m, n), to_string(c.A.sizes()));
  require(c.cut >= 0 && c.cut < 1, where, "a cut in [0, 1)", fmt::format("{}", c.cut));
  const auto A = c.A.to(torch::kFloat64);
  const auto [values, vectors] = at::linalg_eigh(A.mm(A.t()));
  const auto S = values.clamp_min(0).sqrt();
  // A Aᵀ squares: what is below 1e-7 of the largest is rounding.
  const auto kept = (S > std::max(c.cut, 1e-7) * S.max()).nonzero().squeeze(1);
  const auto S_kept = S.index_select(0, kept);
  U_ = vectors.index_select(1, kept).contiguous();
  std::tie(reflectors_, scales_) = at::geqrf(A.t().mm(U_) / S_kept);
  signs_ = reflectors_.diagonal().sign();
  set_singular_values(at::constant_pad_nd(S_kept, {0, n - kept.numel()}).repeat({in_.channels}));
}

Tensor RowSpaceOperator::Vt(const Tensor& x) const {
  const auto columns = rows(x).t();
  const auto v = ReflectedColumns::apply(reflectors_.to(x.options()), scales_.to(x.options()), columns, /*transpose=*/true).t();
  const auto r = U_.size(1);
  return torch::cat({v.narrow(1, 0, r) * signs_.to(x.options()), v.narrow(1, r, v.size(1) - r)}, 1).reshape({x.size(0), -1});
}

Tensor RowSpaceOperator::V(const Tensor& v) const {
  const auto coordinates = rows(v);
  const auto r = U_.size(1);
  const auto columns = torch::cat({coordinates.narrow(1, 0, r) * signs_.to(v.options()), coordinates.narrow(1, r, coordinates.size(1) - r)}, 1).t();
  return ReflectedColumns::apply(reflectors_.to(v.options()), scales_.to(v.options()), columns, /*transpose=*/false).t().reshape(in_.batched(v.size(0)));
}

Tensor RowSpaceOperator::Ut(const Tensor& y) const {
  const auto u = rows(y).mm(U_.to(y.options()));
  return at::constant_pad_nd(u, {0, in_.height * in_.width - u.size(1)}).reshape({y.size(0), -1});
}

Tensor RowSpaceOperator::U(const Tensor& u) const {
  return as_interface(rows(u).narrow(1, 0, U_.size(1)).mm(U_.to(u.options()).t()).reshape({u.size(0), -1}), out_);
}

std::int64_t radon_detectors(std::int64_t height, std::int64_t width) {
  return static_cast<std::int64_t>(std::ceil(std::hypot(static_cast<double>(height), static_cast<double>(width)))) + 1;
}

Tensor radon_matrix(std::int64_t height, std::int64_t width, std::int64_t angles) {
  require(angles >= 1, "radon", "one angle or more", fmt::format("{}", angles));
  const auto detectors = radon_detectors(height, width);
  const auto middle = [](std::int64_t size) { return static_cast<double>(size - 1) / 2; };
  const auto x = (torch::arange(width, torch::kFloat64) - middle(width)).repeat({height});
  const auto y = (torch::arange(height, torch::kFloat64) - middle(height)).repeat_interleave(width);
  const auto pixel = torch::arange(height * width);
  auto A = torch::zeros({angles, detectors, height * width}, torch::kFloat64);
  for (std::int64_t k = 0; k < angles; ++k) {
    const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(angles);
    const auto place = x * std::cos(angle) + y * std::sin(angle) + middle(detectors);
    const auto lower = place.floor();
    A[k].index_put_({lower.to(torch::kInt64), pixel}, 1 - (place - lower), /*accumulate=*/true);
    A[k].index_put_({lower.to(torch::kInt64) + 1, pixel}, place - lower, /*accumulate=*/true);
  }
  return A.reshape({angles * detectors, -1}) / static_cast<double>(std::max(height, width));
}

}  // namespace spnn
