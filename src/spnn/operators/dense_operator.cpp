#include <spnn/core/errors.h>
#include <spnn/operators/dense_operator.h>

#include <ATen/ops/constant_pad_nd.h>

namespace spnn {

DenseOperator::DenseOperator(const Tensor& A, const Shape& in) : DenseOperator(A, in, {A.size(0), 1, 1}) {}

DenseOperator::DenseOperator(const Tensor& A, const Shape& in, const Shape& out)
    : LinearOperator("DenseOperator"), in_(in), out_(out), parts_(svd_of_full_rank(A, "DenseOperator")) {
  require(A.size(1) == in.size(), "DenseOperator", fmt::format("a matrix with {} columns", in.size()),
          fmt::format("{}", A.size(1)));
  require(A.size(0) == out.size(), "DenseOperator", fmt::format("a matrix with {} rows", out.size()),
          fmt::format("{}", A.size(0)));
  set_singular_values(at::constant_pad_nd(parts_.S, {0, in.size() - out.size()}));
}

Tensor DenseOperator::Vt(const Tensor& x) const { return x.flatten(1).mm(parts_.V.to(x.options())); }
Tensor DenseOperator::V(const Tensor& v) const { return as_interface(v.mm(parts_.V.to(v.options()).t()), in_); }
Tensor DenseOperator::Ut(const Tensor& y) const {
  return at::constant_pad_nd(y.flatten(1).mm(parts_.U.to(y.options())), {0, in_.size() - out_.size()});
}
Tensor DenseOperator::U(const Tensor& u) const {
  return as_interface(u.narrow(1, 0, out_.size()).mm(parts_.U.to(u.options()).t()), out_);
}

}  // namespace spnn
