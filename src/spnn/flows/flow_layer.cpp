#include <spnn/flows/flow_layer.h>

#include <cmath>
#include <numbers>

namespace spnn {

Tensor FlowLayer::pinv(const Tensor& y) const {
  if (!discards()) return invert({y, {}});
  return invert({y, {torch::zeros(z_shape().batched(y.size(0)), y.options())}});
}

Tensor FlowLayer::draw_z(const Draw& draw, torch::TensorOptions options) const {
  return draw.temperature * draw.rng.randn_per_image(z_shape().batched(draw.count), draw.first, options);
}

Tensor sum_per_image(const Tensor& x) { return x.flatten(1).sum(1); }

Tensor standard_normal_log_p(const Tensor& z) {
  const auto dimensions = static_cast<double>(z.numel() / z.size(0));
  return -0.5 * sum_per_image(z.square()) - 0.5 * dimensions * std::log(2 * std::numbers::pi);
}

Tensor per_image(const Tensor& value, const Tensor& x) { return value.expand({x.size(0)}); }

}  // namespace spnn
