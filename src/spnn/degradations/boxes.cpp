#include <spnn/degradations/boxes.h>
#include <spnn/image/image.h>

namespace spnn::boxes {

Tensor jpeg(const Tensor& x, int quality) {
  const auto bytes = to_bytes(x.detach());
  std::vector<Tensor> out;
  for (std::int64_t i = 0; i < bytes.size(0); ++i) {
    out.push_back(decode_image(encode_image(bytes[i], ".jpg", quality), "jpeg in memory"));
  }
  return to_unit(torch::stack(out)).to(x.scalar_type());
}

Tensor quantize(const Tensor& x, std::int64_t bits) {
  const auto steps = static_cast<double>((std::int64_t{1} << bits) - 1);
  return ((x + 1) * (steps / 2)).clamp(0, steps).round() * (2 / steps) - 1;
}

Tensor clip(const Tensor& x, double low, double high) { return x.clamp(2 * low - 1, 2 * high - 1); }

}  // namespace spnn::boxes
