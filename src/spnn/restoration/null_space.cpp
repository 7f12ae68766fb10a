#include <spnn/restoration/back_projection.h>
#include <spnn/restoration/field.h>
#include <spnn/restoration/trust.h>

#include <cmath>

namespace spnn::field {
namespace {

constexpr std::uint64_t kSeenNoise = std::uint64_t(1) << 32;   // the stream of the noise on A†y, apart from the sampler's

}  // namespace

Tensor x0_of(const Problem& p, const SamplerConfig& c, const Tensor& x_t, std::int64_t t) {
  const auto x0 = predict_x0(p.prior, x_t, t);
  return c.clamp ? x0.clamp(-1, 1) : x0;
}

Tensor with_seen_part(const Problem& p, const Tensor& x, const ReverseMove& move) {
  const auto& A = *p.g.linear;
  const auto clean = A.pinv(p.y);
  if (move.s < 0) return A.null_part(x) + clean;
  const double a = p.prior.schedule().alpha_bar(move.s);
  const auto noise = p.seeds.noise(p.prior.shape(), kSeenNoise + move.draw, x.options()) * std::sqrt(1 - a);
  return A.null_part(x - noise) + noise + clean * std::sqrt(a);
}

SpectralMeasurement spectral(const Problem& p, double least) {
  const auto& A = *p.g.linear;
  const auto u = A.Ut(p.y);
  const auto S = A.S().to(u.options());
  const auto seen = S > 0;
  const auto safe = torch::where(seen, S, torch::ones_like(S));
  return {torch::where(seen, u / safe, torch::zeros_like(u)),
          torch::where(seen, p.sigma_y.along(2).clamp_min(least).to(safe.options()) / safe, torch::full_like(S, INFINITY)), seen};
}

Tensor nlbp(const Problem& p, const MethodConfig& c, Observer& observer) {
  const Trust trust(p, c.exact);
  BackProjection how{.aim = [&](const Tensor& y_cur, std::int64_t t) { return trust.target(y_cur, p.prior.schedule().alpha_bar(t)); },
                     .guidance = constant_lambda(c.lambda)};
  // A linear projection stays in the range that matters. The last one of any operator is strict, but for networks, whose
  // inverse is no guide outside the range of images.
  how.clamps = [&](const SamplerStep& step) {
    const bool last = step.index + 1 == step.total;
    return !p.g.linear && !(last && !p.g.network()) && c.sampler.clamp;
  };
  return sample(p.prior, c.sampler, p.seeds, observer, back_projection(*p.g.g, std::move(how)));
}

Tensor ddnm(const Problem& p, const MethodConfig& c, Observer& observer) {
  const auto& A = *p.g.linear;
  return sample(p.prior, c.sampler, p.seeds, observer,
                [&](const SamplerStep& step) { return step.x0_hat + A.pinv(p.y - A.forward(step.x0_hat)); });
}

// DDNM+ (Wang et al. 2022, eq. 17–19). In coordinates, A†y carries noise of deviation σ_y/S, which enters x_s times c0. Where
// the sampler's own σ is larger, it is part of it, and the rest is added; where not, the correction is weakened until it is.
Tensor ddnm_plus(const Problem& p, const MethodConfig& c, Observer& observer) {
  const auto& A = *p.g.linear;
  const auto m = spectral(p);
  const auto& schedule = p.prior.schedule();
  return walk_chain(p.prior.shape(), schedule, c.sampler, p.seeds, observer, [&](const ReverseMove& move) {
    const auto k = reverse_coefficients(c.sampler, schedule, move.t, move.s);
    const auto v0 = A.Vt(x0_of(p, c.sampler, move.x_t, move.t));
    const auto carried = m.sigma * std::abs(k.c0);
    const auto lambda = torch::where(carried <= k.sigma, torch::ones_like(carried), k.sigma / carried);   // 0 where S = 0
    auto v = (v0 + lambda * (m.y_bar - v0)) * k.c0;
    if (move.s >= 0) {
      const auto used = torch::where(m.seen, lambda * torch::where(m.seen, carried, torch::zeros_like(carried)), torch::zeros_like(carried));
      v = v + A.Vt(move.x_t) * k.ct + A.Vt(move.noise) * (k.sigma * k.sigma - used.square()).clamp_min(0).sqrt();
    }
    return A.V(v);
  });
}

Tensor repaint(const Problem& p, const MethodConfig& c, Observer& observer) {
  auto sampler = c.sampler;
  sampler.travel = c.repaint;
  const auto& schedule = p.prior.schedule();
  return walk_chain(p.prior.shape(), schedule, sampler, p.seeds, observer, [&](const ReverseMove& move) {
    const auto x0 = x0_of(p, sampler, move.x_t, move.t);
    return with_seen_part(p, reverse_step(sampler, schedule, x0, move.x_t, move.noise, move.t, move.s), move);
  });
}

}  // namespace spnn::field
