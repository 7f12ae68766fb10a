#pragma once

#include <spnn/operators/linear_operator.h>

namespace spnn {

// Keeps the pixels where the mask is true: y = m ⊙ x, an image that is 0 (mid-grey) where nothing is known. The mask is
// [H, W] (all channels alike), [C, H, W], or one for each image of a batch, [B, 1 or C, H, W], and keeps some entries but
// not all.
class Inpainting final : public LinearOperator {
 public:
  Inpainting(const Tensor& mask, const Shape& in);

  Tensor Vt(const Tensor& x) const override { return x.flatten(1); }
  Tensor V(const Tensor& v) const override { return v.reshape(in_.batched(v.size(0))); }
  Tensor Ut(const Tensor& y) const override { return y.flatten(1); }
  Tensor U(const Tensor& u) const override;
  Shape in_shape() const override { return in_; }
  Shape out_shape() const override { return in_; }

 private:
  Shape in_;
};

// y = x: what is left to a method is the noise.
class Denoising final : public LinearOperator {
 public:
  explicit Denoising(const Shape& in);

  Tensor Vt(const Tensor& x) const override { return x.flatten(1); }
  Tensor V(const Tensor& v) const override { return v.reshape(in_.batched(v.size(0))); }
  Tensor Ut(const Tensor& y) const override { return y.flatten(1); }
  Tensor U(const Tensor& u) const override { return as_interface(u, in_); }
  Shape in_shape() const override { return in_; }
  Shape out_shape() const override { return in_; }

 private:
  Shape in_;
};

}  // namespace spnn
