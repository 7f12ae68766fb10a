#include <spnn/core/errors.h>
#include <spnn/restoration/carried_move.h>

#include <cmath>

namespace spnn {
namespace {

constexpr std::uint64_t kCarryNoise = 0xca44;   // a stream of the images' seeds that no sampler uses

Tensor seen_through_noise(const Denoiser& prior, const Tensor& x, const Tensor& noise, std::int64_t t) {
  const double a = prior.schedule().alpha_bar(t);
  return predict_x0(prior, std::sqrt(a) * x + std::sqrt(1 - a) * noise, t).clamp(-1, 1);
}

}  // namespace

CarriedMove::CarriedMove(const Denoiser& prior, Tensor photo, const ImageSeeds& seeds, const CarryConfig& config)
    : prior_(prior), photo_(std::move(photo)), time_(config.time) {
  require(config.time >= 0 && config.time < prior.schedule().steps() && config.draws > 0, "a carried move",
          fmt::format("a time in [0, {}) and one draw or more", prior.schedule().steps()), fmt::format("{} and {}", config.time, config.draws));
  const auto own = seeds.forked(kCarryNoise);
  for (int i = 0; i < config.draws; ++i) {
    noise_.push_back(own.noise(prior.shape(), static_cast<std::uint64_t>(i), photo_.options()));
    seen_.push_back(seen_through_noise(prior_, photo_, noise_.back(), time_));
  }
}

Tensor CarriedMove::operator()(const Tensor& moved) const {
  auto sum = torch::zeros_like(photo_);
  for (std::size_t i = 0; i < noise_.size(); ++i) sum += seen_through_noise(prior_, moved, noise_[i], time_) - seen_[i];
  return (photo_ + sum / static_cast<double>(noise_.size())).clamp(-1, 1);
}

SpunMove carried_move(const Denoiser& prior, const BackProjector& g, const Tensor& photo, const Target& aim, const SpinConfig& spin,
                      const CarryConfig& carry, const ImageSeeds& seeds, Observer& observer) {
  auto moved = spun_move(g, photo, aim, spin);
  if (carry.rounds == 0 || moved.x.equal(photo)) return moved;
  const CarriedMove carried(prior, photo, seeds, carry);
  for (int round = 0; round < carry.rounds; ++round) {
    if (observer.cancelled()) throw Interrupted("moving a photo was interrupted");
    moved = spun_move(g, carried(moved.x), aim, spin);
  }
  return moved;
}

}  // namespace spnn
