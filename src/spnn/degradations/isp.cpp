#include <spnn/degradations/boxes.h>

namespace spnn::boxes {
namespace {

// [3, H, W]: 1 where a colour has its sensor. Rows R G R G …, G B G B …
Tensor bayer(std::int64_t height, std::int64_t width, const torch::TensorOptions& options) {
  const auto odd_row = (torch::arange(height, options) % 2).unsqueeze(1), odd_column = (torch::arange(width, options) % 2).unsqueeze(0);
  const auto red = (1 - odd_row) * (1 - odd_column), blue = odd_row * odd_column;
  return torch::stack({red, 1 - red - blue, blue});
}

// The mean of the nearest sensors of a colour, weighted by distance; a sensor keeps its value. Dividing by the weights that are there
// makes it right at the borders too.
Tensor demosaicked(const Tensor& mosaic, const Tensor& sensors) {
  const auto plus = torch::tensor({0., 1., 0., 1., 4., 1., 0., 1., 0.}, mosaic.options()).view({1, 3, 3});
  const auto square = torch::tensor({1., 2., 1., 2., 4., 2., 1., 2., 1.}, mosaic.options()).view({1, 3, 3});
  const auto kernel = torch::stack({square, plus, square});   // green has twice as many sensors
  const auto spread = [&](const Tensor& v) { return torch::conv2d(v, kernel, {}, 1, 1, 1, /*groups=*/3); };
  return spread(mosaic) / spread(sensors.unsqueeze(0));
}

}  // namespace

Tensor isp(const Tensor& x, const Isp& camera) {
  const auto light = ((x + 1) / 2).clamp(0, 1).pow(camera.gamma);
  const auto sensors = bayer(x.size(2), x.size(3), x.options());
  const auto gains = torch::tensor({camera.red, 1.0, camera.blue}, x.options()).view({3, 1, 1});
  const auto balanced = (light * sensors * gains).clamp_max(1);   // a sensor's well is full at 1
  const auto toned = demosaicked(balanced, sensors).pow(1 / camera.gamma);
  return quantize(toned * 2 - 1, camera.bits);
}

}  // namespace spnn::boxes
