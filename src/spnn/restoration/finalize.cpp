#include <spnn/core/errors.h>
#include <spnn/image/image.h>
#include <spnn/restoration/finalize.h>

namespace spnn {
namespace {

Tensor rows_where(const Tensor& mask, const Tensor& yes, const Tensor& no) {
  return torch::where(broadcast_over(mask, yes), yes, no);
}

Tensor rms_each(const Tensor& difference) { return difference.flatten(1).square().mean(1).sqrt(); }

}  // namespace

Tensor distance_to_target(const Tensor& y, const Target& target) {
  return (y - target(y)).flatten(1).square().mean(1).sqrt();
}

Finalized finalize(const BackProjector& g, const Tensor& x, const Target& target, const FinalizeConfig& config) {
  require(config.iterations >= 0, "finalize", "0 iterations or more", std::to_string(config.iterations));
  const auto options = x.options();
  const auto look = [&](const Tensor& bytes) { return g.forward(to_unit(bytes).to(options)); };

  Finalized best{.bytes = to_bytes(x), .y = {}, .target = {}, .before = distance_to_target(g.forward(x), target), .after = {},
                 .iterations = torch::zeros({x.size(0)}, options.dtype(torch::kInt64))};
  best.y = look(best.bytes);
  best.after = distance_to_target(best.y, target);

  auto current = x;
  Tensor reach;                            // [B]: how far from the sample an iterate may be
  auto owed = torch::zeros_like(best.y);   // what clamping and rounding took away so far
  for (int k = 0; k < config.iterations; ++k) {
    const auto open = best.after > config.tolerance;
    if (!open.any().item<bool>()) break;
    const auto probe = g.probe(current);
    const auto aim = target(probe.y) + owed;
    const auto moved = g.nlbp(probe, aim, torch::ones({x.size(0)}, options)).clamp(-1, 1);
    current = rows_where(open, moved, current);
    // The first projection tells how far the target is. What goes much farther chases the rounding with noise: g is content,
    // and the picture is spoilt.
    if (k == 0) reach = 2 * rms_each(current - x) + 0.01;

    const auto bytes = to_bytes(current);
    const auto y = look(bytes);
    const auto after = distance_to_target(y, target);
    owed = owed + (target(y) - y);
    const auto better = open & (after < best.after) & (rms_each(current - x) <= reach);   // false for NaN
    best.bytes = rows_where(better, bytes, best.bytes);
    best.y = rows_where(better, y, best.y);
    best.after = torch::where(better, after, best.after);
    best.iterations += open.to(torch::kInt64);
  }
  best.target = target(best.y).reshape(best.y.sizes());
  return best;
}

}  // namespace spnn
