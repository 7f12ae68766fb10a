#include <spnn/core/errors.h>
#include <spnn/restoration/restorer.h>

namespace spnn {
namespace {

Tensor guided(const BackProjector& g, const RestorerConfig& config, const RestorationTask& task, const SamplerStep& step) {
  const auto probe = g.probe(step.x0_hat);
  const auto y_target = task.target(probe.y);
  const auto lambda = task.guidance({.t = step.t, .y_cur = probe.y, .y_target = y_target});
  // Back into the range of images: far from its data a network may send a pixel anywhere, and the next step would start
  // from there. What this costs in consistency the final projection makes good.
  const auto moved = move_towards(g, config.update, probe, y_target, lambda).clamp(-1, 1);
  // λ = 0 leaves an image as it is to the last bit, not to the rounding of a round trip through G.
  return torch::where(broadcast_over(lambda, moved) == 0, step.x0_hat, moved);
}

}  // namespace

Tensor move_towards(const BackProjector& g, Update update, const Probe& at, const Tensor& y, const Tensor& lambda) {
  return update == Update::naive ? g.naive(at, y, lambda) : g.nlbp(at, y, lambda);
}

Tensor restore(const Denoiser& prior, const BackProjector& g, const RestorerConfig& config, const RestorationTask& task,
               Observer& observer) {
  require(prior.shape() == g.in_shape(), "restore", fmt::format("a prior of {} images, as the network has", to_string(g.in_shape())),
          to_string(prior.shape()));
  require(config.sampler.clamp, "restore", "a sampler that clamps x̂0", "one that does not",
          "a network outside the range it was trained on is no guide");
  return sample(
      prior, config.sampler, task.seeds, observer,
      [&](const SamplerStep& step) {
        auto x0 = config.window.contains(step.t, step.total - 1 - step.index) ? guided(g, config, task, step) : step.x0_hat;
        if (task.on_step) {
          task.on_step({.x0_hat = x0, .x_t = step.x_t, .t = step.t, .index = step.index, .total = step.total});
        }
        return x0;
      },
      task.start);
}

double guided_part(const RestorerConfig& config, const Schedule& schedule) {
  const auto times = respaced(schedule.steps(), config.sampler.steps);
  const auto total = evaluations(config.sampler, schedule);
  std::int64_t guided = 0, index = 0;
  for (const auto& [from, to] : walk(config.sampler.steps, config.sampler.travel)) {
    if (to > from) continue;
    guided += config.window.contains(times[static_cast<std::size_t>(from)], total - 1 - index++);
  }
  return static_cast<double>(guided) / static_cast<double>(total);
}

}  // namespace spnn
