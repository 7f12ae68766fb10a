#pragma once

#include <spnn/operators/operator.h>

namespace spnn {

// Phase retrieval: y = |F(x + 1)| of every channel, the image (black is 0) in a corner of a grid that is `oversampling` times as wide and high.
//   oversampling 1   G(x) = [|F| | phase], exact: G⁻¹ puts them together, NLBP is Gerchberg and Saxton's step (their magnitudes, our
//                    phases), and g†(y) has the phases of the zero image. Only phases that a real image can have come from one.
//   more             y has more numbers than the image: g is not onto and has no completion. `invert` puts magnitudes and phases together
//                    and cuts the image out, one step of error reduction: g of it is nearer to y, not y.
class FourierMagnitude final : public Operator {
 public:
  FourierMagnitude(const Shape& in, std::int64_t oversampling);

  Tensor forward(const Tensor& x) const override { return spectrum(x).abs(); }
  Completion complete(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;
  Tensor pinv(const Tensor& y) const override;
  Shape in_shape() const override { return in_; }
  Shape out_shape() const override { return {in_.channels, in_.height * oversampling_, in_.width * oversampling_}; }

 private:
  Tensor spectrum(const Tensor& x) const;

  Shape in_;
  std::int64_t oversampling_;
};

}  // namespace spnn
