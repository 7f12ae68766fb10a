#include <spnn/core/json_fields.h>
#include <spnn/core/shape.h>
#include <spnn/networks/upscaler.h>

#include <ATen/ops/kron.h>

#include <cmath>
#include <numbers>

namespace spnn {
namespace {

// The orthonormal DCT-II of `count` values, frequency by row.
Tensor dct_rows(std::int64_t count) {
  const auto k = torch::arange(count, torch::kFloat64).unsqueeze(1), i = torch::arange(count, torch::kFloat64).unsqueeze(0);
  auto rows = torch::cos(k * (2 * i + 1) * (std::numbers::pi / (2.0 * double(count)))) * std::sqrt(2.0 / double(count));
  rows[0] *= std::sqrt(0.5);
  return rows;
}

// Sum, red against blue, green against both: colours of natural images are nearly independent in these.
Tensor colour_rows() {
  const double a = 1 / std::sqrt(3.0), b = 1 / std::sqrt(2.0), c = 1 / std::sqrt(6.0);
  return torch::tensor({{a, a, a}, {b, 0.0, -b}, {c, -2 * c, c}}, torch::kFloat64);
}

// Rows of the means (of R, G and B as they are: the small image), then of all other frequencies of the mixed colours.
Tensor cell_basis(std::int64_t factor) {
  const auto line = dct_rows(factor), cell = at::kron(line, line);
  const auto mean = at::kron(torch::eye(3, torch::kFloat64), cell.narrow(0, 0, 1));
  return torch::cat({mean, at::kron(colour_rows(), cell.narrow(0, 1, factor * factor - 1))}).contiguous();
}

Tensor mix_pixels(const Tensor& matrix, const Tensor& x) {
  return torch::matmul(matrix.to(x.options()), x.flatten(2)).view({x.size(0), matrix.size(0), x.size(2), x.size(3)});
}

}  // namespace

void to_json(Json& json, const UpscalerConfig& c) {
  json = {{"image_size", c.image_size}, {"factor", c.factor}, {"noise_level", c.noise_level}, {"unet", c.unet}};
}

void from_json(const Json& json, UpscalerConfig& c) {
  JsonFields(json, "upscaler").optional("image_size", c.image_size).optional("factor", c.factor).optional("noise_level", c.noise_level).optional("unet", c.unet).no_others();
  require(c.factor >= 2 && c.image_size > 0 && c.image_size % c.factor == 0, "upscaler", "a factor of 2 or more that divides image_size",
          fmt::format("{} and {}", c.factor, c.image_size));
  require(c.noise_level >= 0, "upscaler.noise_level", "0 or more", std::to_string(c.noise_level));
}

Upscaler::Upscaler(UpscalerConfig config) : config_(std::move(config)), basis_(cell_basis(config_.factor)) {
  auto unet = config_.unet;
  unet.in_channels = detail_channels() + 6;   // the small image, two coordinates, the level of its noise
  unet.out_channels = detail_channels();
  config_.unet = unet;
  unet_ = register_module("unet", std::make_shared<UNet>(unet));
  scale_ = register_buffer("scale", torch::ones({1}));
}

Tensor Upscaler::coefficients(const Tensor& x) const { return mix_pixels(basis_, torch::pixel_unshuffle(x, config_.factor)); }

Tensor Upscaler::low(const Tensor& x) const { return torch::avg_pool2d(x, config_.factor); }

Tensor Upscaler::detail(const Tensor& x) const {
  return coefficients(x).narrow(1, 3, detail_channels()) / scale_.to(x.options());
}

Tensor Upscaler::image(const Tensor& low, const Tensor& z) const {
  const auto V0z = mix_pixels(basis_.narrow(0, 3, detail_channels()).t(), z * scale_.to(z.options()));
  return torch::pixel_shuffle(V0z, config_.factor) + low.repeat_interleave(config_.factor, 2).repeat_interleave(config_.factor, 3);
}

void Upscaler::measure_scale(const Tensor& images) {
  const torch::NoGradGuard no_grad;
  scale_.copy_(coefficients(images).narrow(1, 3, detail_channels()).to(torch::kFloat64).square().mean().clamp_min(1e-8).sqrt());
}

Tensor Upscaler::guide(const Tensor& low, const Tensor& level, const Tensor& top, const Tensor& left) const {
  const auto rows = low.size(2), columns = low.size(3);
  const auto place = [&](const Tensor& first, std::int64_t count) {   // [B, count] in [−1, 1]
    auto at = torch::arange(count, low.options()).unsqueeze(0) + 0.5;
    if (first.defined()) at = at + first.to(low.options()).unsqueeze(1);
    return at * (2.0 / double(low_size())) - 1;
  };
  const std::vector<std::int64_t> sizes = {low.size(0), 1, rows, columns};
  return torch::cat({low, place(top, rows).unsqueeze(1).unsqueeze(3).expand(sizes), place(left, columns).unsqueeze(1).unsqueeze(2).expand(sizes),
                     level.to(low.options()).view({-1, 1, 1, 1}).expand(sizes)}, 1);
}

Tensor Upscaler::forward(const Tensor& z_t, const Tensor& guide, const Tensor& t) const {
  return unet_->forward(torch::cat({z_t, guide}, 1), t);
}

}  // namespace spnn
