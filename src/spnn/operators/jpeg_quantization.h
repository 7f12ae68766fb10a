#pragma once

#include <spnn/operators/operator.h>

namespace spnn {

// What JPEG loses (4:4:4, the standard's tables): y = T⁻¹ Q·round(T x / Q), a picture; T the colour transform and the cosine transform of 8×8
// cells, Q the steps. G(x) = [y | T x / Q] and G⁻¹([y | z]) takes of z what rounds to y's whole numbers: z itself, or the end of the interval
// that is nearest to it. As for Clipping, z counts only where y leaves it open; G⁻¹(G(x)) = x and g(G⁻¹([y | z])) = y. q(g†(y)) is y's whole
// numbers, so that NLBP with λ = 1 keeps the place of every coefficient within its step and takes the step from y. Rounding has no gradient: that of the identity stands for it.
class JpegQuantization final : public Operator {
 public:
  JpegQuantization(const Shape& in, std::int64_t quality);

  Tensor forward(const Tensor& x) const override;
  Completion complete(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;
  Tensor pinv(const Tensor& y) const override;   // the middle of every interval: y
  Shape in_shape() const override { return in_; }
  Shape out_shape() const override { return in_; }

  // What is rounded, [B, C, h, 8, w, 8]: T x / Q, an affine map L x + c of the pixels.
  Tensor coefficients(const Tensor& x) const;
  Tensor scaled(const Tensor& x) const;          // L x
  Tensor unscaled(const Tensor& k) const;        // L⁻¹ k
  Tensor adjoint(const Tensor& k) const;         // Lᵀ k
  Tensor gains() const;                          // ‖rows of L‖, [C, 1, 8, 1, 8] double

 private:
  Tensor picture(const Tensor& k) const;         // T⁻¹ Q k

  Shape in_;
  Tensor steps_;           // Q, [C, 1, 8, 1, 8] double
  Tensor cosines_;         // [8, 8] double, orthogonal
  Tensor colours_, back_;  // [3, 3] double and its inverse; undefined for one channel
};

}  // namespace spnn
