#include <spnn/restoration/field.h>
#include <spnn/restoration/trust.h>

#include <torch/csrc/autograd/autograd.h>

#include <cmath>

namespace spnn::field {
namespace {

constexpr double papers_size = 3 * 256 * 256;   // DPS, MCG and MPGD state their steps for images of this size

// A gradient of a norm is about as long whatever the size of the image, the way to go is not.
double for_this_size(const Problem& p) { return std::sqrt(static_cast<double>(p.prior.shape().size()) / papers_size); }

// x_s without the measurement, then a step down the gradient.
Tensor guided_step(const Problem& p, const MethodConfig& c, const ReverseMove& move) {
  const auto guided = guided_prediction(p, move.x_t, move.t, c.sampler.clamp);
  const auto x_s = reverse_step(c.sampler, p.prior.schedule(), guided.x0, move.x_t, move.noise, move.t, move.s);
  const double zeta = c.gradient * for_this_size(p) * static_cast<double>(p.prior.schedule().steps()) / static_cast<double>(c.sampler.steps);
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

DifferentiablePrediction::DifferentiablePrediction(const Denoiser& prior, const Tensor& x_t, std::int64_t t, bool clamp) {
  const at::AutoGradMode with_gradients(true);
  at_ = x_t.detach().requires_grad_(true);
  x0_ = predict_x0(prior, at_, t);
  if (clamp) x0_ = x0_.clamp(-1, 1);
  value_ = x0_.detach();
}

Tensor DifferentiablePrediction::pulled(const Tensor& v) const {
  return torch::autograd::grad({x0_}, {at_}, {v.detach()}, /*retain_graph=*/true)[0];
}

// Song et al. 2023 (ΠGDM, algorithm 1, with the weight √ᾱ_s√ᾱ_t of its authors' code). p(x0 | x_t) is taken as N(x̂0, r²), r² = 1 − ᾱ. For
// linear g and noise the move is Aᵀ(AAᵀ + σ_y²/r²)⁻¹(y − A x̂0); for other operators that of the pseudo-inverse, as far as y is to be trusted.
Tensor pigdm(const Problem& p, const MethodConfig& c, Observer& observer) {
  const auto& schedule = p.prior.schedule();
  const Trust trust(p, c.exact);
  const auto m = p.g.linear ? spectral(p) : SpectralMeasurement();
  return walk_chain(p.prior.shape(), schedule, c.sampler, p.seeds, observer, [&](const ReverseMove& move) {
    const double a = schedule.alpha_bar(move.t);
    const DifferentiablePrediction prediction(p.prior, move.x_t, move.t, c.sampler.clamp);
    const auto& x0 = prediction.x0();
    Tensor towards_y;
    if (p.g.linear) {
      const auto v0 = p.g.linear->Vt(x0);
      const auto weight = (1 - a) / (1 - a + m.sigma.square());   // 0 where S = 0
      towards_y = p.g.linear->V(weight * (m.y_bar - v0));
    } else {
      const auto y_of_x0 = p.g.g->forward(x0);
      towards_y = p.g.g->pinv(trust.target(y_of_x0, a)) - p.g.g->pinv(y_of_x0);
    }
    const auto x_s = reverse_step(c.sampler, schedule, x0, move.x_t, move.noise, move.t, move.s);
    return x_s + prediction.pulled(towards_y) * std::sqrt(a * schedule.alpha_bar(move.s));
  });
}

// He et al. 2023 (MPGD without an autoencoder): no gradient through the prior. Near the end a step of fixed length would jump to and fro
// over y; it is never longer than Polyak's, ‖y − g‖/‖∇‖², which for linear g is where the residual along it vanishes.
Tensor mpgd(const Problem& p, const MethodConfig& c, Observer& observer) {
  const double step = c.setting("mpgd_step") * for_this_size(p) * 100 / static_cast<double>(c.sampler.steps);
  return sample(p.prior, c.sampler, p.seeds, observer, [&](const SamplerStep& at) {
    const auto [pulled, r] = back_projected(*p.g.g, at.x0_hat, p.y);
    const auto distance = r.flatten(1).norm(2, 1).clamp_min(1e-12), slope = pulled.flatten(1).norm(2, 1).clamp_min(1e-12) / distance;
    const auto length = torch::minimum(torch::full_like(distance, step), distance / slope.square());
    return at.x0_hat + pulled * broadcast_over(length / distance, pulled);
  });
}

}  // namespace spnn::field
