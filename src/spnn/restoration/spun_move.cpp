#include <spnn/restoration/spun_move.h>

#include <ATen/ops/replication_pad2d.h>

#include <array>

namespace spnn {
namespace {

struct View {
  std::int64_t down = 0, right = 0;
};
constexpr std::array spin_views = {View{0, 0}, View{2, 1}, View{-1, 2}, View{1, -1}};   // each phase of a cell of 2 and most of one of 4
constexpr std::int64_t kSpinBorder = 2;

Tensor seen_from(const Tensor& x, View v) {
  const auto padded = at::replication_pad2d(x, {kSpinBorder, kSpinBorder, kSpinBorder, kSpinBorder});
  return padded.narrow(2, kSpinBorder + v.down, x.size(2)).narrow(3, kSpinBorder + v.right, x.size(3)).contiguous();
}

Tensor move_onto(const BackProjector& g, const Tensor& x, const Target& aim) {
  const auto probe = g.probe(x);
  return g.nlbp(probe, aim(probe.y), torch::ones({}, x.options()));
}

Tensor mean_of_views(const BackProjector& g, const Tensor& x, const Target& aim) {
  auto sum = torch::zeros_like(x);
  for (const auto view : spin_views) {
    const auto here = seen_from(x, view), mirrored = here.flip(3).contiguous();
    const auto moves = (move_onto(g, here, aim) - here) + (move_onto(g, mirrored, aim) - mirrored).flip(3);
    sum += seen_from(moves, {-view.down, -view.right});
  }
  return sum / (2.0 * spin_views.size());
}

// Of every output: untouched by the wish, or on the side asked for and far enough, or near enough to the number asked for. [B]
Tensor is_met(const Tensor& y, const Tensor& asked, const SpinConfig& config) {
  if (config.graded) return (torch::sigmoid(y) - torch::sigmoid(asked)).abs().le(config.near).all(1);
  const auto untouched = y.eq(asked);
  return untouched.logical_or((y * asked).gt(0).logical_and(y.abs().ge(config.least * asked.abs()))).all(1);
}

Tensor of_rows(const Tensor& rows) { return rows.view({-1, 1, 1, 1}); }

// One round: nothing where all images meet the wish.
std::optional<Tensor> spun_once(const BackProjector& g, const Tensor& x, const Target& aim, const SpinConfig& config) {
  const auto probe = g.probe(x);
  const auto asked = aim(probe.y), met = is_met(probe.y, asked, config);
  if (met.all().item<bool>()) return {};
  const auto moved = config.views ? x + mean_of_views(g, x, aim) : g.nlbp(probe, asked, torch::ones({}, x.options()));
  return torch::where(of_rows(met), x, moved.clamp(-1, 1));
}

}  // namespace

Correction spun_correction(const BackProjector& g, Target aim, const SpinConfig& config) {
  return [&g, aim = std::move(aim), config](const SamplerStep& step) { return spun_once(g, step.x0_hat, aim, config).value_or(step.x0_hat); };
}

SpunMove spun_move(const BackProjector& g, const Tensor& photo, const Target& aim, const SpinConfig& config) {
  auto x = photo;
  for (int round = 0; round < config.rounds; ++round) {
    const auto moved = spun_once(g, x, aim, config);
    if (!moved) break;
    x = *moved;
  }
  const auto y = g.forward(x), asked = aim(y), met = is_met(y, asked, config);
  if (met.all().item<bool>()) return {x, y};
  return {torch::where(of_rows(met), x, move_onto(g, x, aim).clamp(-1, 1)), torch::where(met.unsqueeze(1), y, asked)};
}

}  // namespace spnn
