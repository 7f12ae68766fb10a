#include <spnn/degradations/boxes.h>
#include <spnn/operators/circulant_operator.h>

namespace spnn::boxes {

Tensor shake(const Tensor& x, const Shake& hand) {
  const auto light = ((x + 1) / 2).clamp(0, 1).pow(hand.gamma);
  const auto channels = x.size(1);
  const auto kernel = motion_kernel(hand.length, hand.angle).to(x.options());
  const auto reach = kernel.size(0) / 2;
  const auto framed = torch::replication_pad2d(light, {reach, reach, reach, reach});
  const auto moved = torch::conv2d(framed, kernel.flip({0, 1}).expand({channels, 1, -1, -1}), {}, 1, torch::IntArrayRef({0, 0}), 1, /*groups=*/channels);
  return (moved * hand.gain).clamp(0, 1).pow(1 / hand.gamma) * 2 - 1;
}

}  // namespace spnn::boxes
