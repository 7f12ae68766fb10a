#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/operators/measurement_noise.h>

#include <ATen/ops/poisson.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>

namespace spnn {
namespace {

constexpr std::uint64_t kNoise = 0x6e6f697365;   // a stream of its own: samplers draw from streams 0, 1, 2 …
constexpr double kUnits = 2;                     // [−1, 1] is twice as wide as [0, 1]

double number_in(const std::string& text, const std::string& whole) {
  try {
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    if (used == text.size() && std::isfinite(value)) return value;
  } catch (const std::logic_error&) {
  }
  throw UsageError(fmt::format("noise: expected a standard deviation in [0, 1] pixel units such as 0.05, or poisson:PHOTONS, got '{}'", whole));
}

}  // namespace

MeasurementNoise noise_from(const std::string& text) {
  const auto colon = text.find(':');
  const auto kind = colon == std::string::npos ? "gaussian" : text.substr(0, colon);
  const double level = number_in(colon == std::string::npos ? text : text.substr(colon + 1), text);
  if (kind == "poisson") {
    if (level <= 0) throw UsageError(fmt::format("noise: expected a positive number of photons at white, got '{}'", text));
    return {MeasurementNoise::Kind::poisson, level};
  }
  if (kind != "gaussian") throw UsageError(fmt::format("noise: expected gaussian:SIGMA or poisson:PHOTONS, got '{}'", text));
  if (level < 0 || level > 1) throw UsageError(fmt::format("noise: expected a standard deviation from 0 to 1 in [0, 1] pixel units, got '{}'", text));
  if (level == 0) return {};
  return {MeasurementNoise::Kind::gaussian, level};
}

std::string to_string(const MeasurementNoise& noise) {
  if (noise.kind == MeasurementNoise::Kind::none) return "0";
  return noise.kind == MeasurementNoise::Kind::gaussian ? fmt::format("{}", noise.level) : fmt::format("poisson:{}", noise.level);
}

Tensor with_noise(const Tensor& y, const MeasurementNoise& noise, const std::vector<std::uint64_t>& seeds) {
  if (noise.kind == MeasurementNoise::Kind::none) return y;
  require(std::ssize(seeds) == y.size(0), "noise", fmt::format("{} seeds", y.size(0)), fmt::format("{}", seeds.size()));
  std::vector<Tensor> images;
  for (std::int64_t i = 0; i < y.size(0); ++i) {
    const auto rng = Rng(seeds[static_cast<std::size_t>(i)]).fork(kNoise);
    if (noise.kind == MeasurementNoise::Kind::gaussian) {
      images.push_back(y[i] + kUnits * noise.level * rng.randn(y[i].sizes(), y.options()));
      continue;
    }
    const auto photons = ((y[i] + 1) / kUnits).clamp_min(0) * noise.level;
    images.push_back(at::poisson(photons.to(torch::kCPU), rng.generator()).to(y.device()) / noise.level * kUnits - 1);
  }
  return at::stack(images);
}

double sigma_of(const MeasurementNoise& noise, const Tensor& y) {
  if (noise.kind == MeasurementNoise::Kind::none) return 0;
  if (noise.kind == MeasurementNoise::Kind::gaussian) return kUnits * noise.level;
  const double mean = ((y + 1) / kUnits).clamp(0, 1).mean().item<double>();
  return kUnits * std::sqrt(std::max(mean, 1e-3) / noise.level);
}

bool NoiseLevels::any() const {
  return std::ranges::any_of(levels_, [](double level) { return level != 0; });
}

Tensor NoiseLevels::along(std::int64_t dims) const {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(dims), 1);
  shape[0] = std::ssize(levels_);
  return torch::tensor(levels_, torch::kFloat64).view(shape);
}

NoiseLevels NoiseLevels::slice(std::int64_t from, std::int64_t to) const {
  return levels_.size() == 1 ? *this : NoiseLevels(std::vector<double>(levels_.begin() + from, levels_.begin() + to));
}

NoiseLevels sigmas_of(const MeasurementNoise& noise, const Tensor& y) {
  if (noise.kind != MeasurementNoise::Kind::poisson) return sigma_of(noise, y);
  std::vector<double> levels;
  for (std::int64_t i = 0; i < y.size(0); ++i) levels.push_back(sigma_of(noise, y[i]));
  return NoiseLevels(std::move(levels));
}

}  // namespace spnn
