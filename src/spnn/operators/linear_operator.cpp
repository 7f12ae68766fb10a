#include <spnn/core/errors.h>
#include <spnn/operators/linear_operator.h>

namespace spnn {

Tensor as_interface(const Tensor& y, const Shape& shape) {
  return shape.height * shape.width == 1 ? y.reshape({-1, shape.channels}) : y.reshape(shape.batched(y.size(0)));
}

void LinearOperator::set_singular_values(const Tensor& S) {
  S_ = (S.dim() == 1 ? S.unsqueeze(0) : S).to(torch::kFloat64).contiguous();
  require(S_.size(1) == in_shape().size(), where_, fmt::format("{} singular values", in_shape().size()),
          fmt::format("{}", S_.size(1)));
  const auto seen = S_ > 0;
  S_pinv_ = torch::where(seen, 1 / torch::where(seen, S_, torch::ones_like(S_)), torch::zeros_like(S_));
  norm_ = S_.max().item<double>();
  require(norm_ > 0, where_, "an operator that sees something", "one that sees nothing");
  onto_ = (seen.sum(1) == out_shape().size()).all().item<bool>();
  const double smallest = 1 / S_pinv_.max().item<double>();
  tight_ = onto_ && norm_ - smallest <= 1e-12 * norm_;
  if (S_.size(0) == 1) unseen_ = seen.logical_not()[0].nonzero().squeeze(1);
}

Tensor LinearOperator::S_like(const Tensor& v) const {
  require(S_.size(0) == 1 || S_.size(0) == v.size(0), where_, fmt::format("a batch of {}, as there are masks", S_.size(0)),
          fmt::format("{}", v.size(0)));
  return S_.to(v.options());
}

Tensor LinearOperator::inverse_S_like(const Tensor& v) const {
  S_like(v);
  return S_pinv_.to(v.options());
}

Tensor LinearOperator::forward(const Tensor& x) const {
  require_shape(x, in_shape(), where_);
  const auto v = Vt(x);
  return U(v * S_like(v));
}

Completion LinearOperator::complete(const Tensor& x) const {
  require_shape(x, in_shape(), where_);
  const auto v = Vt(x);
  const auto S = S_like(v);
  const auto z = unseen_.defined() ? v.index_select(1, unseen_) : v * (S == 0);
  return {U(v * S), {z}};
}

Tensor LinearOperator::invert(const Completion& yz) const {
  require(yz.z.size() == 1, where_ + " inverse", "one z", fmt::format("{}", yz.z.size()));
  const auto& z = yz.z.front();
  require_shape(yz.y, out_shape(), where_ + " inverse");
  const auto u = Ut(yz.y);
  const auto seen = u * inverse_S_like(u);
  return V(unseen_.defined() ? seen.index_copy(1, unseen_, z) : torch::where(S_like(u) > 0, seen, z));
}

Tensor LinearOperator::pinv(const Tensor& y) const {
  require_shape(y, out_shape(), where_ + " inverse");
  const auto u = Ut(y);
  return V(u * inverse_S_like(u));
}

Tensor LinearOperator::adjoint(const Tensor& y) const {
  require_shape(y, out_shape(), where_ + " adjoint");
  const auto u = Ut(y);
  return V(u * S_like(u));
}

Tensor LinearOperator::null_part(const Tensor& x) const {
  require_shape(x, in_shape(), where_);
  const auto v = Vt(x);
  return V(v * (S_like(v) == 0));
}

}  // namespace spnn
