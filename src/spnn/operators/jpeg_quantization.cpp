#include <spnn/core/errors.h>
#include <spnn/operators/jpeg_quantization.h>

#include <ATen/ops/einsum.h>
#include <ATen/ops/linalg_inv.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace spnn {
namespace {

// Tables K.1 and K.2 of the standard, for quality 50.
constexpr std::array<double, 64> luma = {16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55, 14, 13, 16, 24, 40, 57,
                                         69, 56, 14, 17, 22,  29,  51,  87,  80, 62, 18, 22, 37,  56,  68,  109, 103, 77, 24, 35, 55, 64,
                                         81, 104, 113, 92, 49, 64, 78,  87,  103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
constexpr std::array<double, 64> chroma = {17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99,
                                           99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
                                           99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99};

Tensor table(const std::array<double, 64>& at50, std::int64_t quality) {
  const auto scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;   // whole numbers, as the encoders have it
  std::vector<double> steps;
  for (const double q : at50) steps.push_back(std::clamp(std::floor((q * static_cast<double>(scale) + 50) / 100), 1.0, 255.0));
  return torch::tensor(steps, torch::kFloat64).reshape({1, 1, 8, 1, 8});
}

Tensor cosine_matrix() {
  const auto k = torch::arange(8, torch::kFloat64);
  auto C = torch::cos((k.unsqueeze(0) * 2 + 1) * k.unsqueeze(1) * (std::numbers::pi / 16)) / 2;
  C[0] /= std::sqrt(2.0);
  return C;
}

}  // namespace

JpegQuantization::JpegQuantization(const Shape& in, std::int64_t quality) : in_(in), cosines_(cosine_matrix()) {
  require(quality >= 1 && quality <= 100, "jpeg", "a quality from 1 to 100", fmt::format("{}", quality));
  require((in.channels == 1 || in.channels == 3) && in.height % 8 == 0 && in.width % 8 == 0, "jpeg",
          "an image of 1 or 3 channels and sides that are multiples of 8", to_string(in));
  steps_ = table(luma, quality);
  if (in.channels == 1) return;
  steps_ = torch::cat({steps_, table(chroma, quality), table(chroma, quality)});
  colours_ = torch::tensor({0.299, 0.587, 0.114, -0.168735892, -0.331264108, 0.5, 0.5, -0.418687589, -0.081312411}, torch::kFloat64).reshape({3, 3});
  back_ = at::linalg_inv(colours_);
}

// Pixels are 127.5 x + 127.5, and 128 is taken off; grey has no colour, so that the difference of −0.5 matters to luma only: to the first cosine.
Tensor JpegQuantization::coefficients(const Tensor& x) const { return scaled(x) + scaled(torch::full({1, in_.channels, in_.height, in_.width}, -0.5 / 127.5, x.options())); }

Tensor JpegQuantization::scaled(const Tensor& x) const {
  require_shape(x, in_, "jpeg");
  auto v = x * 127.5;
  if (colours_.defined()) v = at::einsum("dc,bchw->bdhw", {colours_.to(x.options()), v});
  const auto C = cosines_.to(x.options());
  const auto cells = v.reshape({x.size(0), in_.channels, in_.height / 8, 8, in_.width / 8, 8});
  return at::einsum("ip,bchpwq,jq->bchiwj", {C, cells, C}) / steps_.to(x.options());
}

Tensor JpegQuantization::unscaled(const Tensor& k) const {
  const auto C = cosines_.to(k.options());
  auto v = at::einsum("ip,bchiwj,jq->bchpwq", {C, k * steps_.to(k.options()), C}).reshape(in_.batched(k.size(0)));
  if (back_.defined()) v = at::einsum("dc,bchw->bdhw", {back_.to(k.options()), v});
  return v / 127.5;
}

Tensor JpegQuantization::adjoint(const Tensor& k) const {
  const auto C = cosines_.to(k.options());
  auto v = at::einsum("ip,bchiwj,jq->bchpwq", {C, k / steps_.to(k.options()), C}).reshape(in_.batched(k.size(0)));
  if (colours_.defined()) v = at::einsum("dc,bdhw->bchw", {colours_.to(k.options()), v});
  return v * 127.5;
}

Tensor JpegQuantization::gains() const {
  const auto of_colours = colours_.defined() ? colours_.square().sum(1).sqrt() : torch::ones({1}, torch::kFloat64);
  return of_colours.view({-1, 1, 1, 1, 1}) * 127.5 / steps_;
}

Tensor JpegQuantization::picture(const Tensor& k) const { return unscaled(k) + 0.5 / 127.5; }

Tensor JpegQuantization::forward(const Tensor& x) const {
  const auto c = coefficients(x);
  return picture(c + (c.round() - c).detach());
}

Completion JpegQuantization::complete(const Tensor& x) const {
  const auto c = coefficients(x);
  return {picture(c.round()), {c}};
}

Tensor JpegQuantization::invert(const Completion& yz) const {
  require(yz.z.size() == 1, "jpeg inverse", "one z", fmt::format("{}", yz.z.size()));
  const auto k = coefficients(yz.y).round();
  constexpr double half = 0.4995;   // inside of the interval by more than the rounding of a float
  return picture(torch::where((yz.z.front() - k).abs() < 0.5, yz.z.front(), k + (yz.z.front() - k).clamp(-half, half)));
}

Tensor JpegQuantization::pinv(const Tensor& y) const { return picture(coefficients(y).round()); }

}  // namespace spnn
