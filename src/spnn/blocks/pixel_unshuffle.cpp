#include <spnn/blocks/pixel_unshuffle.h>
#include <spnn/core/errors.h>

namespace spnn {
namespace {

Shape unshuffled(const PixelUnshuffleConfig& c) {
  require(c.factor_h > 0 && c.factor_w > 0, "PixelUnshuffle", "positive factors",
          fmt::format("{}×{}", c.factor_h, c.factor_w));
  require(c.in.height % c.factor_h == 0 && c.in.width % c.factor_w == 0, "PixelUnshuffle",
          fmt::format("a height and width that {}×{} divides", c.factor_h, c.factor_w), to_string(c.in));
  return {c.in.channels * c.factor_h * c.factor_w, c.in.height / c.factor_h, c.in.width / c.factor_w};
}

}  // namespace

PixelUnshuffle::PixelUnshuffle(const PixelUnshuffleConfig& config)
    : Block(config.in, unshuffled(config)), config_(config) {}

Completion PixelUnshuffle::complete(const Tensor& x) const {
  require_shape(x, in_shape(), "PixelUnshuffle");
  const auto& out = out_shape();
  const auto cells =
      x.reshape({x.size(0), config_.in.channels, out.height, config_.factor_h, out.width, config_.factor_w});
  return {cells.permute({0, 1, 3, 5, 2, 4}).reshape(out.batched(x.size(0))), {}};
}

Tensor PixelUnshuffle::invert(const Completion& yz) const { return pinv(yz.y); }

Tensor PixelUnshuffle::pinv(const Tensor& y) const {
  require_shape(y, out_shape(), "PixelUnshuffle inverse");
  const auto& out = out_shape();
  const auto cells =
      y.reshape({y.size(0), config_.in.channels, config_.factor_h, config_.factor_w, out.height, out.width});
  return cells.permute({0, 1, 4, 2, 5, 3}).reshape(in_shape().batched(y.size(0)));
}

}  // namespace spnn
