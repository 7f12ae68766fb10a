#include <spnn/core/errors.h>
#include <spnn/restoration/evidence.h>
#include <spnn/restoration/field.h>
#include <spnn/restoration/trust.h>

#include <cmath>

namespace spnn::field {
namespace {

Tensor dot_each(const Tensor& a, const Tensor& b) { return (a * b).flatten(1).sum(1); }

// The part of a small change z at x that g sees: z without what back-projection to g(x) leaves of it. A†A z where g is linear.
Tensor seen_of(const Problem& p, const Tensor& x, const Tensor& z) {
  if (p.g.linear) return z - p.g.linear->null_part(z);
  const auto h = broadcast_over(0.01 / z.flatten(1).square().mean(1).sqrt().clamp_min(1e-12), z);
  return z - (p.g.g->nlbp(x + h * z, p.g.g->forward(x)) - x) / h;
}

}  // namespace

// For Gaussian images E[x0 | x_t, y] = x̂0 + C Aᵀ(A C Aᵀ)⁻¹(y − A x̂0), C the covariance of x0 given x_t, while NLBP moves by
// v = A†(y − A x̂0) alone: it has I in the place of C. The move that C asks for is C w, w in the range of A† with A†A C w = v. It is
// found by conjugate gradients, C w = √ᾱ (∂x̂0/∂x_t)ᵀ w up to a factor that cancels. One step of them is w = ‖v‖²/⟨v, C v⟩·v. Then
// back-projection does what is left, exactly, as it does for any g.
Tensor likely_back_projection(const Problem& p, const MethodConfig& c, const DifferentiablePrediction& prediction, const Tensor& aim, double alpha_bar) {
  const auto& x0 = prediction.x0();
  const auto corrections = std::llround(c.setting("plus_corrections"));
  const double reach = c.setting("plus_reach");
  auto rest = p.g.g->nlbp(x0, aim) - x0;
  auto direction = rest;
  auto size = dot_each(rest, rest);
  auto moved = torch::zeros_like(x0);
  for (std::int64_t k = 0; k < corrections; ++k) {
    const auto along = prediction.pulled(direction) * std::sqrt(alpha_bar);
    const auto likely = dot_each(direction, along);
    // A network is not quite a posterior mean: where it says that nothing of v is likely, nothing is moved.
    const auto length = torch::where(likely > 0, (size / likely).clamp_max(reach), torch::zeros_like(likely));
    moved = moved + along * broadcast_over(length, along);
    if (k + 1 == corrections) break;
    rest = rest - seen_of(p, x0, along) * broadcast_over(length, along);
    const auto left = dot_each(rest, rest);
    direction = rest + direction * broadcast_over(left / size.clamp_min(1e-30), direction);
    size = left;
  }
  moved = x0 + moved;
  if (c.sampler.clamp) moved = moved.clamp(-1, 1);
  return p.g.g->nlbp(moved, aim, c.lambda);
}

// With uncertain y, evidence of mean m and variance R on the coordinates T x, E[x0 | x_t, y] = x̂0 + C Tᵀ w with (T C Tᵀ + R) w = m − T x̂0.
// Conjugate gradients again, with diag(open + R) for T C Tᵀ + R to begin with. What is left after them is moved as if C were that
// diagonal; of it R w is what y is expected to be off by. Without noise this is the back-projection of likely_back_projection.
Tensor likely_mean(const Problem& p, const MethodConfig& c, const DifferentiablePrediction& prediction, const Evidence& y, double alpha_bar) {
  const auto& x0 = prediction.x0();
  const auto corrections = std::llround(c.setting("plus_corrections"));
  const double reach = c.setting("plus_reach"), scale = (1 - alpha_bar) / std::sqrt(alpha_bar);
  const auto trusted = 1 / (y.open + y.variance);
  auto rest = y.mean - y.T(x0);
  auto direction = rest * trusted;
  auto size = dot_each(rest, direction);
  auto moved = torch::zeros_like(x0), w = torch::zeros_like(rest);
  for (std::int64_t k = 0; k < corrections; ++k) {
    const auto along = prediction.pulled(y.adjoint(direction)) * scale;
    const auto image = y.T(along) + y.variance * direction;
    const auto likely = dot_each(direction, image);
    const auto length = torch::where(likely > 0, (size / likely).clamp_max(reach), torch::zeros_like(likely));
    moved = moved + along * broadcast_over(length, along);
    w = w + direction * broadcast_over(length, direction);
    if (k + 1 == corrections) break;
    rest = rest - image * broadcast_over(length, image);
    const auto z = rest * trusted;
    const auto left = dot_each(rest, z);
    direction = z + direction * broadcast_over(left / size.clamp_min(1e-30), direction);
    size = left;
  }
  moved = x0 + moved;
  if (c.sampler.clamp) moved = moved.clamp(-1, 1);
  moved = moved + y.pinv(y.open * trusted * (y.mean - y.T(moved) - y.variance * w));
  return x0 + (moved - x0) * c.lambda;
}

Tensor nlbp_plus(const Problem& p, const MethodConfig& c, Observer& observer) {
  const Trust trust(p, c.exact);
  const bool uncertain = has_evidence(p, c, trust);
  const auto& schedule = p.prior.schedule();
  const double fresh = c.setting("plus_fresh");
  SecondOrder second(schedule);
  return walk_chain(p.prior.shape(), schedule, c.sampler, p.seeds, observer, [&](const ReverseMove& move) {
    const double a = schedule.alpha_bar(move.t), a_s = schedule.alpha_bar(move.s);
    const DifferentiablePrediction prediction(p.prior, move.x_t, move.t, c.sampler.clamp);
    auto x0 = uncertain ? likely_mean(p, c, prediction, evidence_of(p, trust, prediction.x0(), a), a)
                        : likely_back_projection(p, c, prediction, trust.target(p.g.g->forward(prediction.x0()), a), a);
    if (p.g.rounding) x0 = p.g.g->nlbp(x0, p.y, c.lambda);   // into the intervals of y
    const bool last = move.s < 0;
    if (!p.g.linear && !(last && !p.g.network()) && c.sampler.clamp) x0 = x0.clamp(-1, 1);
    if (fresh > 0 && !last) {   // what was wrong at t is not carried along with its noise
      const auto eps = (move.x_t - x0 * std::sqrt(a)) / std::sqrt(1 - a);
      return x0 * std::sqrt(a_s) + (eps * std::sqrt(1 - fresh) + move.noise * std::sqrt(fresh)) * std::sqrt(1 - a_s);
    }
    if (c.sampler.kind == SamplerKind::dpm) x0 = second.extrapolated(x0, move);
    return reverse_step(c.sampler, schedule, x0, move.x_t, move.noise, move.t, move.s);
  });
}

}  // namespace spnn::field
