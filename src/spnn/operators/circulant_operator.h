#pragma once

#include <spnn/operators/linear_operator.h>

namespace spnn {

struct CirculantConfig {
  Shape in;
  Tensor kernel;     // [kh, kw], its middle at (kh/2, kw/2); one larger than the image wraps around it
  double cut = 0;    // as SeparableConfig's
};

// Convolution of every channel with any kernel, the image continued by its other end. The Fourier transform makes it
// diagonal: with k̂ = |k̂|e^{iθ}, A = (P H) |k̂| H, where H is the Hartley transform (real, symmetric, its own inverse) and
// P the orthogonal convolution with spectrum e^{iθ}.
class CirculantOperator final : public LinearOperator {
 public:
  explicit CirculantOperator(const CirculantConfig& config, std::string where = "CirculantOperator");

  Tensor Vt(const Tensor& x) const override;
  Tensor V(const Tensor& v) const override;
  Tensor Ut(const Tensor& y) const override;
  Tensor U(const Tensor& u) const override;
  Shape in_shape() const override { return in_; }
  Shape out_shape() const override { return in_; }

 private:
  Tensor image(const Tensor& flat) const { return flat.reshape(in_.batched(flat.size(0))); }

  Shape in_;
  Tensor phase_;   // e^{iθ}, complex double [H, W]
};

// A Gaussian with standard deviations `along` and `across` a direction of `degrees` from the horizontal, sum 1.
Tensor anisotropic_kernel(double along, double across, double degrees);

// A camera that moved `length` pixels at even speed in a direction of `degrees` from the horizontal, sum 1.
Tensor motion_kernel(double length, double degrees);

}  // namespace spnn
