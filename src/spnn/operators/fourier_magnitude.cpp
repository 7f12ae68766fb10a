#include <spnn/core/errors.h>
#include <spnn/operators/fourier_magnitude.h>

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/fft_fft2.h>
#include <ATen/ops/fft_ifft2.h>
#include <ATen/ops/polar.h>
#include <ATen/ops/real.h>

namespace spnn {

FourierMagnitude::FourierMagnitude(const Shape& in, std::int64_t oversampling) : in_(in), oversampling_(oversampling) {
  require(oversampling >= 1 && oversampling <= 8, "phase", "an oversampling from 1 to 8", fmt::format("{}", oversampling));
}

Tensor FourierMagnitude::spectrum(const Tensor& x) const {
  require_shape(x, in_, "phase");
  const auto more = oversampling_ - 1;
  return at::fft_fft2(at::constant_pad_nd(x + 1, {0, in_.width * more, 0, in_.height * more}), {}, {-2, -1}, "ortho");
}

Completion FourierMagnitude::complete(const Tensor& x) const {
  const auto f = spectrum(x);
  return {f.abs(), {f.angle()}};
}

Tensor FourierMagnitude::invert(const Completion& yz) const {
  require(yz.z.size() == 1, "phase inverse", "one z", fmt::format("{}", yz.z.size()));
  require_shape(yz.y, out_shape(), "phase inverse");
  const auto image = at::real(at::fft_ifft2(at::polar(yz.y.clamp_min(0), yz.z.front()), {}, {-2, -1}, "ortho"));
  return image.slice(-2, 0, in_.height).slice(-1, 0, in_.width) - 1;
}

// The zero image is a constant: its phases are 0.
Tensor FourierMagnitude::pinv(const Tensor& y) const { return invert({y, {torch::zeros_like(y)}}); }

}  // namespace spnn
