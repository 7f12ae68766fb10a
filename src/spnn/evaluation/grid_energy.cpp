#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/evaluation/grid_energy.h>

#include <ATen/ops/fft_fft2.h>

#include <cmath>

namespace spnn {
namespace {

// Energy by frequency along one direction, [size/2 + 1], the constant part of each image left out.
Tensor energy_along(const Tensor& power, std::int64_t dimension) {
  const auto other = dimension == 0 ? 1 : 0;
  return power.sum(other).narrow(0, 0, power.size(dimension) / 2 + 1);
}

double excess_at(const Tensor& energy, std::int64_t k) {
  const auto at = [&](std::int64_t i) { return energy[i].item<double>(); };
  const auto highest = energy.size(0) - 1;
  if (k == highest) return at(k) / std::exp(2 * std::log(at(k - 1)) - std::log(at(k - 2)));
  const auto above = std::min(k + 2, highest);
  return at(k) / std::exp(0.25 * (std::log(at(k - 2)) + std::log(at(k - 1)) + std::log(at(k + 1)) + std::log(at(above))));
}

}  // namespace

std::vector<double> grid_energies(const Tensor& images, const std::vector<std::int64_t>& periods) {
  require(images.dim() == 4 && images.size(0) > 0, "grid energy", "images [N, C, H, W]", to_string(images.sizes()));
  const auto height = images.size(2), width = images.size(3);
  const auto x = images.to(torch::kFloat64);
  const auto spectrum = at::fft_fft2(x - x.mean(torch::IntArrayRef{2, 3}, /*keepdim=*/true));
  const auto power = (at::real(spectrum).square() + at::imag(spectrum).square()).sum(torch::IntArrayRef{0, 1}) + 1e-12;
  std::vector<double> out;
  for (const auto period : periods) {
    require(period >= 2 && height % period == 0 && width % period == 0 && std::min(height, width) / period >= 4, "grid energy",
            fmt::format("a period that divides {}×{} four times or more", height, width), std::to_string(period));
    out.push_back(0.5 * (excess_at(energy_along(power, 0), height / period) + excess_at(energy_along(power, 1), width / period)));
  }
  return out;
}

double grid_energy(const Tensor& images, std::int64_t period) { return grid_energies(images, {period}).front(); }

}  // namespace spnn
