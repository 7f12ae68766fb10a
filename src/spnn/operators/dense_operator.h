#pragma once

#include <spnn/operators/operator.h>
#include <spnn/operators/svd.h>

namespace spnn {

// g(x) = A·vec(x) for any matrix of full row rank: G(x) = [Ax | V₀ᵀx], A† and V₀ from the SVD.
class DenseOperator final : public Operator {
 public:
  DenseOperator(const Tensor& A, const Shape& in);   // A: [m, C·H·W]

  Tensor forward(const Tensor& x) const override;
  Completion complete(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;
  Tensor pinv(const Tensor& y) const override;
  Shape in_shape() const override { return in_; }
  Shape out_shape() const override { return {parts_.A.size(0), 1, 1}; }

 private:
  Tensor as_input(const Tensor& flat) const;

  Shape in_;
  SvdParts parts_;
};

}  // namespace spnn
