#include <spnn/restoration/back_projection.h>

namespace spnn {

Aim at_every_step(Target target) {
  return [target = std::move(target)](const Tensor& y_cur, std::int64_t) { return target(y_cur); };
}

Correction back_projection(const BackProjector& g, BackProjection how) {
  return [&g, how = std::move(how)](const SamplerStep& step) {
    if (!how.window.contains(step.t, step.total - 1 - step.index)) return step.x0_hat;
    const auto probe = g.probe(step.x0_hat);
    const auto y_target = how.aim(probe.y, step.t);
    const auto lambda = how.guidance({.t = step.t, .y_cur = probe.y, .y_target = y_target});
    auto moved = g.nlbp(probe, y_target, lambda);
    if (!how.clamps || how.clamps(step)) moved = moved.clamp(-1, 1);
    // Not to the rounding of a round trip through G.
    return torch::where(broadcast_over(lambda, moved) == 0, step.x0_hat, moved);
  };
}

double guided_part(const SamplerConfig& sampler, const Window& window, const Schedule& schedule) {
  const auto times = spaced(schedule, sampler.steps, sampler.spacing);
  const auto total = evaluations(sampler, schedule);
  std::int64_t guided = 0, index = 0;
  for (const auto& [from, to] : walk(sampler.steps, sampler.travel)) {
    if (to > from) continue;
    guided += window.contains(times[static_cast<std::size_t>(from)], total - 1 - index++);
  }
  return static_cast<double>(guided) / static_cast<double>(total);
}

}  // namespace spnn
