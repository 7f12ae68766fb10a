#include <spnn/restoration/field.h>
#include <spnn/restoration/trust.h>

#include <algorithm>
#include <cmath>

namespace spnn::field {
namespace {

constexpr std::uint64_t kDecoupledNoise = std::uint64_t(1) << 33;   // streams of noise apart from the sampler's
constexpr std::uint64_t kRedNoise = std::uint64_t(1) << 34;

using DataStep = std::function<Tensor(const Tensor& x0, std::int64_t t)>;

// Zhu et al. 2023 (DiffPIR, algorithm 1): x̂0 by the prior, then by the data, then back to the noise of s, a share ζ of it fresh.
Tensor diffpir_with(const Problem& p, const MethodConfig& c, Observer& observer, const DataStep& by_data) {
  const auto& schedule = p.prior.schedule();
  const double zeta = c.setting("diffpir_zeta");
  return walk_chain(p.prior.shape(), schedule, c.sampler, p.seeds, observer, [&](const ReverseMove& move) {
    const auto x0 = by_data(x0_of(p, c.sampler, move.x_t, move.t), move.t);
    if (move.s < 0) return x0;
    const double a = schedule.alpha_bar(move.t), a_s = schedule.alpha_bar(move.s);
    const auto eps = (move.x_t - x0 * std::sqrt(a)) / std::sqrt(1 - a);
    return x0 * std::sqrt(a_s) + (eps * std::sqrt(1 - zeta) + move.noise * std::sqrt(zeta)) * std::sqrt(1 - a_s);
  });
}

// x̂0 by a few Euler steps of the probability flow from σ_t to 0, equal steps of σ^(1/7).
Tensor flowed(const Problem& p, const MethodConfig& c, const Tensor& x_t, std::int64_t t) {
  const auto& schedule = p.prior.schedule();
  const auto count = std::llround(c.setting("daps_ode"));
  const double from = std::pow(sigma_at(schedule, t), 1 / 7.0), to = std::pow(sigma_at(schedule, 0), 1 / 7.0);
  auto x = x_t / std::sqrt(schedule.alpha_bar(t));
  for (std::int64_t k = 0; k < count; ++k) {
    const auto time = k == 0 ? t : time_of(schedule, std::pow(from + (to - from) * static_cast<double>(k) / static_cast<double>(count), 7));
    const auto x0 = x0_of(p, c.sampler, x * std::sqrt(schedule.alpha_bar(time)), time);
    if (k + 1 == count) return x0;
    const double sigma = sigma_at(schedule, time);
    const double next = sigma_at(schedule, time_of(schedule, std::pow(from + (to - from) * static_cast<double>(k + 1) / static_cast<double>(count), 7)));
    x = x0 + (x - x0) * (next / sigma);
  }
  return x;
}

// ‖J‖² at x by a few power iterations, one for each image.
Tensor steepest(const Problem& p, const Tensor& x, std::uint64_t draw) {
  auto u = p.seeds.noise(p.prior.shape(), draw, x.options());
  const auto y = p.g.g->forward(x);
  Tensor gain;
  for (int k = 0; k < 4; ++k) {
    u = u / broadcast_over(u.flatten(1).norm(2, 1).clamp_min(1e-12), u);
    constexpr double h = 0.1;   // of a unit vector over the whole image
    const auto pushed = (p.g.g->forward(x + u * h) - y) / h;
    u = back_projected(*p.g.g, x, y + pushed).first;
    gain = u.flatten(1).norm(2, 1);
  }
  return gain;
}

}  // namespace

Tensor diffpir(const Problem& p, const MethodConfig& c, Observer& observer) {
  const auto& A = *p.g.linear;
  const auto m = spectral(p, 2 * c.setting("diffpir_sigma"));
  const double lambda = c.setting("diffpir_lambda");
  return diffpir_with(p, c, observer, [&](const Tensor& x0, std::int64_t t) {
    // argmin ‖y − Ax‖² + ρ‖x − x̂0‖², ρ = λσ_y²/σ_t²: S²/(S² + ρ) of the way to y in every coordinate
    const auto v0 = A.Vt(x0);
    return A.V(v0 + (m.y_bar - v0) / (1 + (m.sigma / sigma_at(p.prior.schedule(), t)).square() * lambda));
  });
}

Tensor diffpir_pinv(const Problem& p, const MethodConfig& c, Observer& observer) {
  const auto& A = *p.g.linear;
  const double lambda = c.setting("diffpir_lambda");
  const auto sigma = p.sigma_y.along(4).clamp_min(2 * c.setting("diffpir_sigma"));
  return diffpir_with(p, c, observer, [&](const Tensor& x0, std::int64_t t) {
    const auto rho = (sigma / sigma_at(p.prior.schedule(), t)).square() * lambda;
    return x0 + A.pinv(p.y - A.forward(x0)) / (1 + rho).to(x0.options());
  });
}

Tensor diffpir_nlbp(const Problem& p, const MethodConfig& c, Observer& observer) {
  const Trust trust(p, c.exact);
  return diffpir_with(p, c, observer, [&](const Tensor& x0, std::int64_t t) {
    const auto moved = p.g.g->nlbp(x0, trust.target(p.g.g->forward(x0), p.prior.schedule().alpha_bar(t)), c.lambda);
    return !p.g.linear && c.sampler.clamp && (t > 0 || p.g.network()) ? moved.clamp(-1, 1) : moved;   // as nlbp
  });
}

Tensor decoupled_exactly(const Problem& p, const MethodConfig& c, const Decoupled& at) {
  const auto& A = *p.g.linear;
  const auto m = spectral(p, 2 * c.setting("daps_beta"));
  const auto v0 = A.Vt(at.x0_hat);
  const double r2 = at.r * at.r;
  const auto weight = r2 / (r2 + m.sigma.square());   // 0 where S = 0
  const auto mean = v0 + weight * (m.y_bar - v0);
  if (at.mean_only) return A.V(mean);
  const auto z = A.Vt(p.seeds.noise(p.prior.shape(), kDecoupledNoise + at.draw, at.x0_hat.options()));
  return A.V(mean + z * (at.r * (1 - weight).sqrt()));
}

Tensor decoupled_by_langevin(const Problem& p, const MethodConfig& c, const Decoupled& at) {
  const auto beta2 = p.sigma_y.along(1).clamp_min(2 * c.setting("daps_beta")).square().to(at.x0_hat.options()).expand({at.x0_hat.size(0)});
  const double r2 = at.r * at.r;
  const auto count = std::llround(c.setting("daps_langevin"));
  const auto stream = kDecoupledNoise + (at.draw << 20);
  const auto curvature = 1 / r2 + steepest(p, at.x0_hat, stream) / beta2;
  const auto eta = broadcast_over(c.setting("daps_step") / curvature, at.x0_hat);
  const auto noise = at.mean_only ? torch::zeros_like(eta) : (eta * 2).sqrt();
  auto x = at.x0_hat;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto pull = back_projected(*p.g.g, x, p.y).first / broadcast_over(beta2, x) + (at.x0_hat - x) / r2;
    x = x + pull * eta + p.seeds.noise(p.prior.shape(), stream + 1 + static_cast<std::uint64_t>(k), x.options()) * noise;
  }
  return x;
}

// Zhang et al. 2024 (DAPS, algorithm 1), r_t = σ_t. --steps counts evaluations of the prior: steps/ode noise levels.
Tensor daps(const Problem& p, const MethodConfig& c, Observer& observer) {
  const auto& schedule = p.prior.schedule();
  auto levels = c.sampler;
  levels.travel = {};
  levels.steps = std::max<std::int64_t>(1, c.sampler.steps / std::llround(c.setting("daps_ode")));
  return walk_chain(p.prior.shape(), schedule, levels, p.seeds, observer, [&](const ReverseMove& move) {
    const Decoupled at{.x0_hat = flowed(p, c, move.x_t, move.t), .r = sigma_at(schedule, move.t), .draw = move.draw, .mean_only = move.s < 0};
    const auto x0 = p.g.linear ? decoupled_exactly(p, c, at) : decoupled_by_langevin(p, c, at);
    if (move.s < 0) return x0;
    const double a = schedule.alpha_bar(move.s);
    return x0 * std::sqrt(a) + move.noise * std::sqrt(1 - a);
  });
}

Tensor red_gradient(const Problem& p, const Tensor& mu, const Tensor& noise, std::int64_t t, double lambda) {
  const double a = p.prior.schedule().alpha_bar(t);
  const auto eps = p.prior.eps(mu * std::sqrt(a) + noise * std::sqrt(1 - a), t);
  const double entries = static_cast<double>(p.g.in_shape().size()) / static_cast<double>(p.g.g->out_shape().size());
  return (eps - noise) * (lambda * std::sqrt((1 - a) / a)) - back_projected(*p.g.g, mu, p.y).first * entries;
}

// Mardani et al. 2023 (RED-diff): μ from g†(y) by Adam (0.9, 0.99), one noise and one time per step, from the top of the schedule down.
Tensor red_diff(const Problem& p, const MethodConfig& c, Observer& observer) {
  const double lambda = c.setting("reddiff_lambda"), rate = c.setting("reddiff_rate"), b1 = 0.9, b2 = 0.99;
  auto chain = c.sampler;
  chain.travel = {};
  auto mu = p.g.g->pinv(p.y);
  if (c.sampler.clamp) mu = mu.clamp(-1, 1);
  auto first = torch::zeros_like(mu), second = torch::zeros_like(mu);
  return walk_chain(p.prior.shape(), p.prior.schedule(), chain, p.seeds, observer, [&](const ReverseMove& move) {
    const auto noise = p.seeds.noise(p.prior.shape(), kRedNoise + move.draw, mu.options());
    const auto gradient = red_gradient(p, mu, noise, move.t, lambda);
    const double k = static_cast<double>(move.index + 1);
    first = first * b1 + gradient * (1 - b1);
    second = second * b2 + gradient.square() * (1 - b2);
    mu = mu - first / (1 - std::pow(b1, k)) / ((second / (1 - std::pow(b2, k))).sqrt() + 1e-8) * rate;
    return mu;
  });
}

}  // namespace spnn::field
