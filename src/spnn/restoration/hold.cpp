#include <spnn/core/errors.h>
#include <spnn/restoration/hold.h>

namespace spnn {
namespace {

constexpr double kMostChanged = 0.95;   // the quantile of an image's changes that counts as a full change

}  // namespace

Tensor mean_of_neighbours(const Tensor& x) { return torch::avg_pool2d(torch::replication_pad2d(x, {2, 2, 2, 2}), 5, 1); }

Tensor moved_at_once(const BackProjector& g, const Tensor& photo, const Target& target) {
  const auto probe = g.probe(photo);
  return g.nlbp(probe, target(probe.y), torch::ones({photo.size(0)}, photo.options())).clamp(-1, 1);
}

Tensor changed_places(const Tensor& x, const Tensor& moved, double keep) {
  require(keep >= 0 && keep <= 1, "keep", "a number in [0, 1]", fmt::format("{}", keep));
  const auto change = mean_of_neighbours(mean_of_neighbours((moved - x).abs().mean(1, /*keepdim=*/true)));
  if (keep == 0) return torch::ones_like(change);
  const auto most = change.flatten(1).quantile(kMostChanged, 1).view({-1, 1, 1, 1});
  return (change / (keep * most + 1e-6)).clamp_max(1);
}

Correction holding(Correction correction, Tensor photo, Tensor mask) {
  return [correction = std::move(correction), photo = std::move(photo), mask = std::move(mask)](const SamplerStep& step) {
    const auto free = mask.expand_as(photo);
    const auto x0 = torch::lerp(photo, step.x0_hat, free);
    if (!correction) return x0;
    return torch::lerp(photo, correction({.x0_hat = x0, .x_t = step.x_t, .t = step.t, .index = step.index, .total = step.total}), free);
  };
}

}  // namespace spnn
