#include <spnn/core/errors.h>
#include <spnn/operators/composition.h>
#include <spnn/operators/dense_operator.h>
#include <spnn/operators/separable_operator.h>

namespace spnn {
namespace {

class AfterTight final : public LinearOperator {
 public:
  AfterTight(LinearOperatorPtr outer, LinearOperatorPtr inner)
      : LinearOperator("composition"), outer_(std::move(outer)), inner_(std::move(inner)) {
    unseen_ = (inner_->S()[0] == 0).nonzero().squeeze(1);
    const auto S = outer_->S() * inner_->norm();
    set_singular_values(torch::cat({S, torch::zeros({S.size(0), unseen_.numel()}, torch::kFloat64)}, 1));
  }

  Tensor Vt(const Tensor& x) const override {
    const auto v = inner_->Vt(x);
    const auto middle = inner_->U(v).reshape(outer_->in_shape().batched(v.size(0)));
    return torch::cat({outer_->Vt(middle), v.index_select(1, unseen_)}, 1);
  }
  Tensor V(const Tensor& v) const override {
    const auto m = outer_->in_shape().size();
    const auto seen = inner_->Ut(outer_->V(v.narrow(1, 0, m)));
    return inner_->V(seen.index_copy(1, unseen_, v.narrow(1, m, unseen_.numel())));
  }
  Tensor Ut(const Tensor& y) const override {
    const auto u = outer_->Ut(y);
    return torch::cat({u, torch::zeros({u.size(0), unseen_.numel()}, u.options())}, 1);
  }
  Tensor U(const Tensor& u) const override { return outer_->U(u.narrow(1, 0, outer_->in_shape().size())); }
  Shape in_shape() const override { return inner_->in_shape(); }
  Shape out_shape() const override { return outer_->out_shape(); }

 private:
  LinearOperatorPtr outer_, inner_;
  Tensor unseen_;
};

}  // namespace

Tensor matrix_of(const Operator& g) {
  const auto n = g.in_shape().size();
  return g.forward(torch::eye(n, torch::kFloat64).reshape(g.in_shape().batched(n))).flatten(1).t();
}

LinearOperatorPtr compose(const LinearOperatorPtr& outer, const LinearOperatorPtr& inner, double cut) {
  require(outer->in_shape() == inner->out_shape(), "composition", fmt::format("an operator on {}", to_string(inner->out_shape())),
          fmt::format("one on {}", to_string(outer->in_shape())));
  if (const auto a = inner->separable(), b = outer->separable(); a && b) {
    return std::make_shared<SeparableOperator>(
        SeparableConfig{inner->in_shape(), {b->A_h.mm(a->A_h), b->A_w.mm(a->A_w)}, cut}, "composition");
  }
  if (inner->tight()) return std::make_shared<AfterTight>(outer, inner);
  const auto n = inner->in_shape().size();
  require(n <= dense_limit && outer->onto(), "composition",
          fmt::format("two separable operators, a first one with A Aᵀ = c²I (average pooling, grey, Walsh–Hadamard), or at most {} values",
                      dense_limit),
          fmt::format("neither, on {} values", n), "the product of two pseudo-inverses is not one in general");
  return std::make_shared<DenseOperator>(matrix_of(*outer).mm(matrix_of(*inner)), inner->in_shape(), outer->out_shape());
}

}  // namespace spnn
