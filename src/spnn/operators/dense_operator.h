#pragma once

#include <spnn/operators/linear_operator.h>
#include <spnn/operators/svd.h>

namespace spnn {

// g(x) = A·vec(x) for any matrix of full row rank, by its singular value decomposition.
class DenseOperator final : public LinearOperator {
 public:
  DenseOperator(const Tensor& A, const Shape& in);   // A: [m, C·H·W]; y is a vector
  DenseOperator(const Tensor& A, const Shape& in, const Shape& out);

  Tensor Vt(const Tensor& x) const override;
  Tensor V(const Tensor& v) const override;
  Tensor Ut(const Tensor& y) const override;
  Tensor U(const Tensor& u) const override;
  Shape in_shape() const override { return in_; }
  Shape out_shape() const override { return out_; }

 private:
  Shape in_, out_;
  SvdParts parts_;
};

}  // namespace spnn
