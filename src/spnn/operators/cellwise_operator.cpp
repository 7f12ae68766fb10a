#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/core/errors.h>
#include <spnn/operators/cellwise_operator.h>

namespace spnn {
namespace {

Tensor pooling_matrix(std::int64_t channels, std::int64_t factor) {
  require(factor > 0, "AveragePooling", "a positive factor", fmt::format("{}", factor));
  const auto mean = torch::full({1, factor * factor}, 1.0 / static_cast<double>(factor * factor), torch::kFloat64);
  return torch::kron(torch::eye(channels, torch::kFloat64), mean);
}

// The interface form of an output with one pixel.
Tensor as_interface(const Tensor& y) { return y.size(2) == 1 && y.size(3) == 1 ? y.flatten(1) : y; }

}  // namespace

CellwiseOperator::CellwiseOperator(const CellwiseConfig& c, std::string where)
    : cells_({.in = c.in, .factor_h = c.factor_h, .factor_w = c.factor_w}), parts_(svd_parts(c.A, where)),
      where_(std::move(where)) {
  require(c.A.size(1) == cells_.out_shape().channels, where_,
          fmt::format("a matrix with {} columns", cells_.out_shape().channels), fmt::format("{}", c.A.size(1)));
}

Shape CellwiseOperator::out_shape() const {
  return {parts_.A.size(0), cells_.out_shape().height, cells_.out_shape().width};
}

Tensor CellwiseOperator::forward(const Tensor& x) const {
  require_shape(x, in_shape(), where_);
  return as_interface(mix_channels(parts_.A.to(x.options()), cells_.forward(x)));
}

Completion CellwiseOperator::complete(const Tensor& x) const {
  require_shape(x, in_shape(), where_);
  const auto cells = cells_.forward(x);
  const auto parts = to(parts_, x);
  return {as_interface(mix_channels(parts.A, cells)), {mix_channels(parts.V0.t(), cells)}};
}

Tensor CellwiseOperator::invert(const Completion& yz) const {
  require(yz.z.size() == 1, where_ + " inverse", "one z", fmt::format("{}", yz.z.size()));
  return pinv(yz.y) + cells_.pinv(mix_channels(parts_.V0.to(yz.y.options()), yz.z.front()));
}

Tensor CellwiseOperator::pinv(const Tensor& y) const {
  require_shape(y, out_shape(), where_ + " inverse");
  const auto image = y.reshape(out_shape().batched(y.size(0)));
  return cells_.pinv(mix_channels(parts_.A_pinv.to(y.options()), image));
}

AveragePooling::AveragePooling(const Shape& in, std::int64_t factor)
    : CellwiseOperator({.in = in, .factor_h = factor, .factor_w = factor, .A = pooling_matrix(in.channels, factor)},
                       "AveragePooling") {}

Grey::Grey(const Shape& in, const std::vector<double>& weights)
    : CellwiseOperator({.in = in, .A = torch::tensor(weights, torch::kFloat64).unsqueeze(0)}, "Grey") {}

}  // namespace spnn
