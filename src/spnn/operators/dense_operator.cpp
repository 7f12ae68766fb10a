#include <spnn/core/errors.h>
#include <spnn/operators/dense_operator.h>

namespace spnn {

DenseOperator::DenseOperator(const Tensor& A, const Shape& in) : in_(in), parts_(svd_parts(A, "DenseOperator")) {
  require(A.size(1) == in.size(), "DenseOperator", fmt::format("a matrix with {} columns", in.size()),
          fmt::format("{}", A.size(1)));
}

Tensor DenseOperator::as_input(const Tensor& flat) const {
  return in_.height * in_.width == 1 ? flat : flat.reshape(in_.batched(flat.size(0)));
}

Tensor DenseOperator::forward(const Tensor& x) const {
  require_shape(x, in_, "DenseOperator");
  return torch::linear(x.flatten(1), parts_.A.to(x.options()));
}

Completion DenseOperator::complete(const Tensor& x) const {
  return {forward(x), {x.flatten(1).mm(parts_.V0.to(x.options()))}};
}

Tensor DenseOperator::invert(const Completion& yz) const {
  require(yz.z.size() == 1, "DenseOperator inverse", "one z", fmt::format("{}", yz.z.size()));
  const auto null_part = torch::linear(yz.z.front(), parts_.V0.to(yz.y.options()));
  return pinv(yz.y) + as_input(null_part);
}

Tensor DenseOperator::pinv(const Tensor& y) const {
  require_shape(y, out_shape(), "DenseOperator inverse");
  return as_input(torch::linear(y.flatten(1), parts_.A_pinv.to(y.options())));
}

}  // namespace spnn
