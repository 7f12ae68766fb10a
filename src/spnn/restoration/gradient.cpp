#include <spnn/restoration/field.h>

#include <torch/csrc/autograd/autograd.h>

#include <cmath>

namespace spnn::field {
namespace {

// x_s without the measurement, then a step down the gradient.
Tensor guided_step(const Problem& p, const MethodConfig& c, const ReverseMove& move) {
  const auto guided = guided_prediction(p, move.x_t, move.t, c.sampler.clamp);
  const auto x_s = reverse_step(c.sampler, p.prior.schedule(), guided.x0, move.x_t, move.noise, move.t, move.s);
  constexpr double papers_size = 3 * 256 * 256;
  const double size = std::sqrt(static_cast<double>(p.prior.shape().size()) / papers_size);
  const double zeta = c.gradient * size * static_cast<double>(p.prior.schedule().steps()) / static_cast<double>(c.sampler.steps);
  return x_s - guided.gradient * zeta;
}

}  // namespace

GuidedPrediction guided_prediction(const Problem& p, const Tensor& x_t, std::int64_t t, bool clamp) {
  const at::AutoGradMode with_gradients(true);
  const auto at = x_t.detach().requires_grad_(true);
  auto x0 = predict_x0(p.prior, at, t);
  if (clamp) x0 = x0.clamp(-1, 1);
  // A norm an image: summed, their gradients do not mix. (The public code takes one norm over the batch.)
  const auto distance = (p.y - p.g.g->forward(x0)).flatten(1).square().sum(1).clamp_min(1e-20).sqrt();
  const auto gradient = torch::autograd::grad({distance.sum()}, {at})[0];
  return {x0.detach(), gradient};
}

// Chung et al. 2022/2023 (DPS, algorithm 1), with the gradient of the norm, not of its square: a step of length ζ'/‖y − g(x̂0)‖
// along the latter is that.
Tensor dps(const Problem& p, const MethodConfig& c, Observer& observer) {
  return walk_chain(p.prior.shape(), p.prior.schedule(), c.sampler, p.seeds, observer,
                    [&](const ReverseMove& move) { return guided_step(p, c, move); });
}

Tensor mcg(const Problem& p, const MethodConfig& c, Observer& observer) {
  return walk_chain(p.prior.shape(), p.prior.schedule(), c.sampler, p.seeds, observer,
                    [&](const ReverseMove& move) { return with_seen_part(p, guided_step(p, c, move), move); });
}

}  // namespace spnn::field
