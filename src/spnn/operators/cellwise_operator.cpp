#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/core/errors.h>
#include <spnn/operators/cellwise_operator.h>
#include <spnn/operators/line_matrices.h>

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/kron.h>

namespace spnn {
namespace {

Tensor pooling_matrix(std::int64_t channels, std::int64_t factor) {
  require(factor > 0, "AveragePooling", "a positive factor", fmt::format("{}", factor));
  const auto mean = torch::full({1, factor * factor}, 1.0 / static_cast<double>(factor * factor), torch::kFloat64);
  return at::kron(torch::eye(channels, torch::kFloat64), mean);
}

Tensor grey_matrix(const Shape& in, const std::vector<double>& weights) {
  require(in.channels == std::ssize(weights), "Grey", fmt::format("an image of {} channels", weights.size()),
          fmt::format("{}", to_string(in)));
  return torch::tensor(weights, torch::kFloat64).unsqueeze(0);
}

// k×k orthogonal mix of the channels.
Tensor mixed(const Tensor& matrix, const Tensor& cells) { return mix_channels(matrix.to(cells.options()), cells); }

}  // namespace

CellwiseOperator::CellwiseOperator(const CellwiseConfig& c, std::string where)
    : LinearOperator(where), cells_({.in = c.in, .factor_h = c.factor_h, .factor_w = c.factor_w}),
      parts_(svd_of_full_rank(c.A, where)) {
  require(c.A.size(1) == cells_.out_shape().channels, where,
          fmt::format("a matrix with {} columns", cells_.out_shape().channels), fmt::format("{}", c.A.size(1)));
  const auto cell = cells_.out_shape();
  const auto S = at::constant_pad_nd(parts_.S, {0, cell.channels - parts_.S.size(0)});
  set_singular_values(S.repeat_interleave(cell.height * cell.width));
}

Shape CellwiseOperator::out_shape() const {
  return {parts_.S.size(0), cells_.out_shape().height, cells_.out_shape().width};
}

Tensor CellwiseOperator::Vt(const Tensor& x) const { return mixed(parts_.V.t(), cells_.forward(x)).flatten(1); }

Tensor CellwiseOperator::V(const Tensor& v) const {
  return cells_.pinv(mixed(parts_.V, v.reshape(cells_.out_shape().batched(v.size(0)))));
}

Tensor CellwiseOperator::Ut(const Tensor& y) const {
  const auto u = mixed(parts_.U.t(), y.reshape(out_shape().batched(y.size(0))));
  return at::constant_pad_nd(u.flatten(1), {0, in_shape().size() - out_shape().size()});
}

Tensor CellwiseOperator::U(const Tensor& u) const {
  const auto seen = u.narrow(1, 0, out_shape().size()).reshape(out_shape().batched(u.size(0)));
  return as_interface(mixed(parts_.U, seen), out_shape());
}

AveragePooling::AveragePooling(const Shape& in, std::int64_t factor)
    : CellwiseOperator({.in = in, .factor_h = factor, .factor_w = factor, .A = pooling_matrix(in.channels, factor)},
                       "AveragePooling"), factor_(factor) {}

std::optional<SeparableFactors> AveragePooling::separable() const {
  return SeparableFactors{pooling_line(in_shape().height, factor_), pooling_line(in_shape().width, factor_)};
}

Grey::Grey(const Shape& in, const std::vector<double>& weights)
    : CellwiseOperator({.in = in, .A = grey_matrix(in, weights)}, "Grey") {}

}  // namespace spnn
