#include <spnn/core/errors.h>
#include <spnn/evaluation/detail_measures.h>

#include <ATen/ops/fft_fft2.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spnn {
namespace {

constexpr std::int64_t kPooledSide = 16;

Tensor luma_of(const Tensor& bytes) {
  const auto x = bytes.to(torch::kFloat32) / 255;
  if (x.size(1) == 1) return x.select(1, 0);
  return 0.299 * x.select(1, 0) + 0.587 * x.select(1, 1) + 0.114 * x.select(1, 2);
}

// sin², of unit mean square.
Tensor fade(std::int64_t length) {
  const auto w = torch::sin((torch::arange(length).to(torch::kFloat32) + 0.5) * (std::numbers::pi / double(length))).square();
  return w / w.square().mean().sqrt();
}

Tensor pooled_vectors(const Tensor& bytes) {
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < bytes.size(0); i += 1024) {
    const auto x = bytes.slice(0, i, std::min(i + 1024, bytes.size(0))).to(torch::kFloat32) / 255;
    parts.push_back(torch::avg_pool2d(x, x.size(2) / kPooledSide).flatten(1));
  }
  return torch::cat(parts);
}

}  // namespace

double energy_above_half_band(const Tensor& images) {
  const auto height = images.size(2), width = images.size(3);
  const auto window = fade(height).unsqueeze(1) * fade(width).unsqueeze(0);
  const auto far = [](std::int64_t n) {   // |f| > ¼
    const auto k = torch::arange(n);
    return torch::minimum(k, n - k).gt(n / 4);
  };
  const auto above = far(height).unsqueeze(1).logical_or(far(width).unsqueeze(0)).to(torch::kFloat32);
  double sum = 0;
  for (std::int64_t i = 0; i < images.size(0); i += 64) {
    const auto x = luma_of(images.slice(0, i, std::min(i + 64, images.size(0))));
    const auto spectrum = at::fft_fft2((x - x.mean({1, 2}, /*keepdim=*/true)) * window).abs().square();
    sum += (spectrum * above).sum().item<double>();
  }
  const double pixels = double(height * width);
  return sum / (pixels * pixels * double(images.size(0)));
}

Tensor random_crops(const Tensor& images, std::int64_t size, std::int64_t count, const Rng& rng) {
  const auto height = images.size(2), width = images.size(3);
  require(size <= height && size <= width, "random_crops", fmt::format("images of {} pixels or more", size), fmt::format("{} × {}", width, height));
  std::vector<Tensor> crops;
  for (std::int64_t i = 0; i < images.size(0); ++i) {
    for (std::int64_t k = 0; k < count; ++k) {
      const auto bits = rng.fork(static_cast<std::uint64_t>(i)).fork(static_cast<std::uint64_t>(k)).seed();
      const auto top = static_cast<std::int64_t>((bits >> 8 & 0xFFFFFF) % static_cast<std::uint64_t>(height - size + 1));
      const auto left = static_cast<std::int64_t>((bits >> 32 & 0xFFFFFF) % static_cast<std::uint64_t>(width - size + 1));
      crops.push_back(images[i].narrow(1, top, size).narrow(2, left, size));
    }
  }
  return torch::stack(crops);
}

Tensor nearest_distances(const Tensor& images, const Tensor& others) {
  require(images.size(2) % kPooledSide == 0 && others.sizes().slice(1) == images.sizes().slice(1), "nearest_distances",
          "images of one size, a multiple of 16", fmt::format("{} and {} pixels", images.size(2), others.size(2)));
  const auto a = pooled_vectors(images), b = pooled_vectors(others);
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < a.size(0); i += 256) {
    parts.push_back(torch::cdist(a.slice(0, i, std::min(i + 256, a.size(0))), b).amin(1));
  }
  return torch::cat(parts) / std::sqrt(double(a.size(1)));
}

}  // namespace spnn
