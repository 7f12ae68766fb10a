#pragma once

#include <spnn/operators/operator.h>

namespace spnn {

// High dynamic range: y = clip(s·x) to [−1, 1]. G(x) = [y | s·x − y], what was cut off, and G⁻¹([y | z]) = (y + z)/s where y is at a limit
// and z lies beyond it, y/s elsewhere: z counts only where y leaves it open. So G is no bijection onto all [y | z], yet G⁻¹(G(x)) = x,
// g(G⁻¹([y | z])) = y for every z, and NLBP with λ = 1 is the nearest image with g(x') = y.
class Clipping final : public Operator {
 public:
  Clipping(const Shape& in, double scale);

  Tensor forward(const Tensor& x) const override;
  Completion complete(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;
  Tensor pinv(const Tensor& y) const override { return y / scale_; }
  Shape in_shape() const override { return in_; }
  Shape out_shape() const override { return in_; }

 private:
  Shape in_;
  double scale_;
};

}  // namespace spnn
