#include <spnn/core/json_fields.h>
#include <spnn/core/shape.h>
#include <spnn/networks/upscaler.h>

#include <ATen/ops/kron.h>

#include <cmath>
#include <numbers>

namespace spnn {
namespace {

constexpr double kMostLocal = 4;   // detail spreads here by e⁴ times more or less than in photos at most

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
  if (c.by_frequency) json["by_frequency"] = true;   // files without it are as they were
}

void from_json(const Json& json, UpscalerConfig& c) {
  JsonFields(json, "upscaler").optional("image_size", c.image_size).optional("factor", c.factor).optional("noise_level", c.noise_level)
      .optional("by_frequency", c.by_frequency).optional("unet", c.unet).no_others();
  require(c.factor >= 2 && c.image_size > 0 && c.image_size % c.factor == 0, "upscaler", "a factor of 2 or more that divides image_size",
          fmt::format("{} and {}", c.factor, c.image_size));
  require(c.noise_level >= 0, "upscaler.noise_level", "0 or more", std::to_string(c.noise_level));
}

Upscaler::Upscaler(UpscalerConfig config) : config_(std::move(config)), basis_(cell_basis(config_.factor)) {
  auto unet = config_.unet;
  unet.in_channels = detail_channels() + 6;   // the small image, two coordinates, the level of its noise
  unet.out_channels = (config_.by_frequency ? 2 : 1) * detail_channels();   // F, and the logarithm of how much more there is here
  config_.unet = unet;
  unet_ = register_module("unet", std::make_shared<UNet>(unet));
  scale_ = register_buffer("scale", torch::ones({1}));
  spread_ = torch::ones({detail_channels()});
  if (config_.by_frequency) register_buffer("spread", spread_);
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
  const auto power = coefficients(images).narrow(1, 3, detail_channels()).to(torch::kFloat64).square().mean({0, 2, 3}).clamp_min(1e-8);
  scale_.copy_(power.mean().sqrt());
  if (config_.by_frequency) spread_.copy_((power / power.mean()).sqrt());
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

Upscaler::Preconditioning Upscaler::preconditioning(const Tensor& alpha_bar, const Tensor& spread) {
  const auto a = alpha_bar.to(spread.options()).view({-1, 1, 1, 1}), square = spread.square(), power = a * square + 1 - a;
  return {.skip = a.sqrt() * square / power, .out = spread * ((1 - a) / power).sqrt()};
}

Tensor Upscaler::z0_hat(const Tensor& z_t, const Tensor& guide, const Tensor& t, const Tensor& alpha_bar) const {
  const auto said = unet_->forward(torch::cat({z_t, guide}, 1), t);
  auto spread = spread_like(z_t);
  if (config_.by_frequency) {
    const auto here = said.narrow(1, detail_channels(), detail_channels());
    spread = spread * (kMostLocal * torch::tanh(here / kMostLocal)).exp();
  }
  const auto [skip, out] = preconditioning(alpha_bar, spread);
  return skip * z_t - out * said.narrow(1, 0, detail_channels());
}

Upscaler::Residual Upscaler::residual(const Tensor& z0, const Tensor& z_t, const Tensor& guide, const Tensor& t, const Tensor& alpha_bar) const {
  const auto [skip, out] = preconditioning(alpha_bar, spread_like(z_t));
  return {.given = (skip * z_t - z0_hat(z_t, guide, t, alpha_bar)) / out, .wanted = (skip * z_t - z0) / out};
}

void Upscaler::learn_from(const Upscaler& other) {
  const torch::NoGradGuard no_grad;
  const auto theirs = other.unet_->named_parameters();
  for (auto& item : unet_->named_parameters()) {
    if (item.key().starts_with("conv_out.")) continue;
    const auto* known = theirs.find(item.key());
    require(known != nullptr && known->sizes() == item.value().sizes(), "upscaler " + item.key(), to_string(item.value().sizes()),
            known == nullptr ? "nothing" : to_string(known->sizes()));
    item.value().copy_(*known);
  }
}

}  // namespace spnn
