#include <spnn/core/errors.h>
#include <spnn/operators/circulant_operator.h>

#include <ATen/ops/fft_fft2.h>
#include <ATen/ops/fft_ifft2.h>
#include <ATen/ops/polar.h>
#include <ATen/ops/real.h>
#include <ATen/ops/imag.h>

#include <cmath>
#include <numbers>

namespace spnn {
namespace {

Tensor fourier(const Tensor& x) { return at::fft_fft2(x, {}, {-2, -1}, "ortho"); }

Tensor hartley(const Tensor& x) {
  const auto f = fourier(x);
  return at::real(f) - at::imag(f);
}

// Convolution with a kernel of this spectrum; the result is real because the spectrum is that of a real kernel.
Tensor filtered(const Tensor& spectrum, const Tensor& x) {
  const auto f = fourier(x);
  return at::real(at::fft_ifft2(f * spectrum.to(f.options()), {}, {-2, -1}, "ortho"));
}

Tensor spectrum_of(const CirculantConfig& c, const std::string& where) {
  require(c.kernel.dim() == 2 && c.kernel.numel() > 0, where, "a kernel [rows, columns]", to_string(c.kernel.sizes()));
  const auto kh = c.kernel.size(0), kw = c.kernel.size(1);
  const auto row = torch::remainder(torch::arange(kh) - kh / 2, c.in.height), column = torch::remainder(torch::arange(kw) - kw / 2, c.in.width);
  const auto full = torch::zeros({c.in.height, kw}, torch::kFloat64).index_add(0, row, c.kernel.to(torch::kFloat64));
  return at::fft_fft2(torch::zeros({c.in.height, c.in.width}, torch::kFloat64).index_add(1, column, full));
}

}  // namespace

CirculantOperator::CirculantOperator(const CirculantConfig& c, std::string where) : LinearOperator(where), in_(c.in) {
  require(c.cut >= 0 && c.cut < 1, where, "a cut in [0, 1)", fmt::format("{}", c.cut));
  const auto k = spectrum_of(c, where);
  auto S = k.abs();
  S = torch::where(S <= std::max(c.cut, 1e-12) * S.max(), torch::zeros_like(S), S);
  // Where nothing passes any phase would do; 1 keeps P real.
  const auto theta = torch::where(S > 0, k.angle(), torch::zeros_like(S));
  phase_ = at::polar(torch::ones_like(theta), theta);
  set_singular_values(S.reshape({-1}).repeat({in_.channels}));
}

Tensor CirculantOperator::Vt(const Tensor& x) const { return hartley(x).flatten(1); }
Tensor CirculantOperator::V(const Tensor& v) const { return hartley(image(v)); }
Tensor CirculantOperator::Ut(const Tensor& y) const { return hartley(filtered(phase_.conj(), image(y))).flatten(1); }
Tensor CirculantOperator::U(const Tensor& u) const { return as_interface(filtered(phase_, hartley(image(u))), in_); }

Tensor anisotropic_kernel(double along, double across, double degrees) {
  require(along > 0 && across > 0, "anisotropic blur", "two positive standard deviations in pixels",
          fmt::format("{} and {}", along, across));
  const auto reach = static_cast<std::int64_t>(std::ceil(3 * std::max(along, across)));
  const auto line = torch::arange(-reach, reach + 1, torch::kFloat64);
  const double angle = degrees * std::numbers::pi / 180;
  const auto x = line.unsqueeze(0), y = line.unsqueeze(1);
  const auto a = (x * std::cos(angle) - y * std::sin(angle)) / along;     // rows grow downwards, angles upwards
  const auto b = (x * std::sin(angle) + y * std::cos(angle)) / across;
  const auto kernel = (-(a.square() + b.square()) / 2).exp();
  return kernel / kernel.sum();
}

Tensor motion_kernel(double length, double degrees) {
  require(length >= 1, "motion blur", "a length of 1 pixel or more", fmt::format("{}", length));
  const auto reach = static_cast<std::int64_t>(std::ceil(length / 2));
  const auto line = torch::arange(-reach, reach + 1, torch::kFloat64);
  const double angle = degrees * std::numbers::pi / 180;
  const auto x = line.unsqueeze(0), y = line.unsqueeze(1);
  const auto along = (x * std::cos(angle) - y * std::sin(angle)).abs(), across = (x * std::sin(angle) + y * std::cos(angle)).abs();
  const auto kernel = (1 - across).clamp_min(0) * (length / 2 + 0.5 - along).clamp(0, 1);
  return kernel / kernel.sum();
}

}  // namespace spnn
