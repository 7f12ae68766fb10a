#include <spnn/core/errors.h>
#include <spnn/restoration/field.h>

#include <algorithm>
#include <cmath>

namespace spnn::field {

double sigma_at(const Schedule& schedule, std::int64_t t) {
  const double a = schedule.alpha_bar(t);
  return std::sqrt((1 - a) / a);
}

std::int64_t time_of(const Schedule& schedule, double sigma) {
  std::int64_t low = 0, high = schedule.steps() - 1;
  while (high - low > 1) {
    const auto middle = (low + high) / 2;
    (sigma_at(schedule, middle) < sigma ? low : high) = middle;
  }
  return sigma * sigma < sigma_at(schedule, low) * sigma_at(schedule, high) ? low : high;
}

// Kawar et al. 2022, eq. 7–8: every coordinate by itself, by whether the measurement is cleaner than the sample is to be.
Tensor ddrm(const Problem& p, const MethodConfig& c, Observer& observer) {
  const auto& A = *p.g.linear;
  const auto m = spectral(p);
  const auto& schedule = p.prior.schedule();
  auto sampler = c.sampler;
  sampler.travel = {};
  const double keep = std::sqrt(1 - c.eta * c.eta);
  return walk_chain(p.prior.shape(), schedule, sampler, p.seeds, observer, [&](const ReverseMove& move) {
    const double sigma_t = sigma_at(schedule, move.t), sigma_s = sigma_at(schedule, move.s);
    auto x_t = move.x_t;
    if (move.index == 0) {   // x_T begins at the measurement
      const auto fits = m.seen & (m.sigma <= sigma_t);
      const auto spread = torch::where(fits, sigma_t * sigma_t - m.sigma.square(), torch::full_like(m.sigma, sigma_t * sigma_t)).sqrt();
      x_t = A.V(torch::where(fits, m.y_bar, torch::zeros_like(m.y_bar)) + A.Vt(x_t) * spread) * std::sqrt(schedule.alpha_bar(move.t));
    }
    const auto v0 = A.Vt(x0_of(p, sampler, x_t, move.t));
    const auto v_t = A.Vt(x_t) * (1 / std::sqrt(schedule.alpha_bar(move.t)));
    const auto z = move.s < 0 ? torch::zeros_like(v0) : A.Vt(move.noise);
    const auto unseen = v0 + (v_t - v0) * (keep * sigma_s / sigma_t) + z * (c.eta * sigma_s);
    const auto noisier = v0 + (m.y_bar - v0) * (keep * sigma_s / m.sigma) + z * (c.eta * sigma_s);   // σ_s < σ_y/S
    const auto rest = (sigma_s * sigma_s - m.sigma.square() * (c.eta_b * c.eta_b)).clamp_min(0).sqrt();
    const auto cleaner = v0 * (1 - c.eta_b) + m.y_bar * c.eta_b + z * rest;
    const auto v = torch::where(m.seen, torch::where(m.sigma > sigma_s, noisier, cleaner), unseen);
    return A.V(v) * std::sqrt(schedule.alpha_bar(move.s));
  });
}

// Kawar et al. 2021: annealed Langevin steps of the posterior of x̃ = x0 + σ ε. The noise of x̃ is taken as a part of the
// measurement's (σ < σ_y/S) or the other way round (σ > σ_y/S), which makes p(y | x̃) exact in each coordinate.
Tensor snips(const Problem& p, const MethodConfig& c, Observer& observer) {
  require(c.langevin >= 1 && c.langevin_step > 0 && c.langevin_step <= 1, "snips", "a Langevin step in (0, 1], one or more a level",
          fmt::format("{} of {}", c.langevin, c.langevin_step));
  const auto& A = *p.g.linear;
  const auto m = spectral(p);
  const auto& schedule = p.prior.schedule();
  const double top = sigma_at(schedule, schedule.steps() - 1), bottom = sigma_at(schedule, 0);
  // A step forgets the share c of where it was. Noise of the first level is gone at the last only if all steps together forget
  // more than top/bottom; twice that, on a logarithmic scale, is the least that is worth running.
  const auto least = static_cast<std::int64_t>(std::ceil(2 * std::log(top / bottom) / -std::log1p(-std::min(c.langevin_step, 0.999))));
  const auto levels = std::max<std::int64_t>(2, std::max(c.sampler.steps, least) / c.langevin);
  auto v = A.Vt(p.seeds.noise(p.prior.shape(), 0, p.y.options())) * top;
  std::uint64_t draw = 0;
  for (std::int64_t i = 0; i < levels; ++i) {
    const auto t = time_of(schedule, top * std::pow(bottom / top, static_cast<double>(i) / static_cast<double>(levels - 1)));
    const double sigma = sigma_at(schedule, t), root = std::sqrt(schedule.alpha_bar(t));
    const auto excess = (m.sigma.square() - sigma * sigma).abs().clamp_min(1e-12);   // of the noisier over the cleaner
    const auto noisy = m.sigma > sigma;                                               // true where S = 0
    // α: the variance of p(x̃ | y) where y speaks, harmonically combined with the level's own where both do.
    const auto alpha = torch::where(m.seen, torch::where(noisy, sigma * sigma * (1 - sigma * sigma / m.sigma.square()).clamp_min(0), excess),
                                    torch::full_like(m.sigma, sigma * sigma));
    for (std::int64_t k = 0; k < c.langevin; ++k) {
      if (observer.cancelled()) throw Interrupted("sampling was interrupted");
      const auto v0 = A.Vt(x0_of(p, c.sampler, A.V(v) * root, t));
      const auto by_prior = (v0 - v) / (sigma * sigma);
      const auto by_y = torch::where(m.seen, (m.y_bar - v) / excess, torch::zeros_like(v));
      const auto gradient = torch::where(noisy, by_prior + by_y, by_y);
      const auto z = A.Vt(p.seeds.noise(p.prior.shape(), ++draw, p.y.options()));
      v = v + alpha * gradient * c.langevin_step + z * (alpha * (2 * c.langevin_step)).sqrt();
      observer.progress(static_cast<std::int64_t>(draw), levels * c.langevin, "steps");
    }
  }
  return A.V(v);
}

}  // namespace spnn::field
