#pragma once

#include <spnn/operators/operator.h>

namespace spnn {

// Keeps the entries where the mask is true, y = x[mask] as a vector, and discards the others. The mask is [H, W] (all
// channels alike) or [C, H, W], and keeps some entries but not all.
class Inpainting final : public Operator {
 public:
  Inpainting(const Tensor& mask, const Shape& in);

  Tensor forward(const Tensor& x) const override;
  Completion complete(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;
  Tensor pinv(const Tensor& y) const override;   // zero where nothing is known
  Shape in_shape() const override { return in_; }
  Shape out_shape() const override { return {kept_.numel(), 1, 1}; }

 private:
  Tensor assemble(const Tensor& y, const Tensor& z) const;

  Shape in_;
  Tensor kept_, discarded_;   // flat indices
};

}  // namespace spnn
