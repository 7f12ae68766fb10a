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

Tensor lens(const Tensor& x, double k) {
  const auto line = [&](std::int64_t n) { return torch::linspace(-1, 1, n, x.options()); };
  const auto v = line(x.size(2)).unsqueeze(1).expand({x.size(2), x.size(3)});
  const auto u = line(x.size(3)).unsqueeze(0).expand({x.size(2), x.size(3)});
  const auto stretch = 1 + k * (u.square() + v.square());
  const auto grid = torch::stack({u * stretch, v * stretch}, -1).unsqueeze(0).expand({x.size(0), -1, -1, -1});
  constexpr std::int64_t bilinear = 0, border = 1;
  return torch::grid_sampler(x, grid, bilinear, border, /*align_corners=*/true);
}

}  // namespace spnn::boxes
