#include <spnn/degradations/boxes.h>
#include <spnn/operators/line_matrices.h>

#include <vector>

namespace spnn::boxes {
namespace {

struct Plane {
  Tensor u, v, r2;   // [H, W]
};
Plane plane_of(const Tensor& x) {
  const auto line = [&](std::int64_t n) { return torch::linspace(-1, 1, n, x.options()); };
  const auto v = line(x.size(2)).unsqueeze(1).expand({x.size(2), x.size(3)});
  const auto u = line(x.size(3)).unsqueeze(0).expand({x.size(2), x.size(3)});
  return {u, v, u.square() + v.square()};
}

Tensor sampled(const Tensor& x, const Plane& at, const Tensor& stretch) {
  const auto grid = torch::stack({at.u * stretch, at.v * stretch}, -1).unsqueeze(0).expand({x.size(0), -1, -1, -1});
  constexpr std::int64_t bilinear = 0, border = 1;
  return torch::grid_sampler(x, grid, bilinear, border, /*align_corners=*/true);
}

// Red, green and blue in the order of the channels; a grey picture is green.
Tensor bent(const Tensor& x, const Plane& at, const Lens& glass) {
  const auto stretch = 1 + glass.k * at.r2;
  if (glass.chroma == 0 || x.size(1) != 3) return sampled(x, at, stretch);
  std::vector<Tensor> colours;
  for (std::int64_t c = 0; c < 3; ++c) {
    const double size = 1 + static_cast<double>(1 - c) * glass.chroma;
    colours.push_back(sampled(x.slice(1, c, c + 1), at, stretch / size));
  }
  return torch::cat(colours, 1);
}

}  // namespace

Tensor lens(const Tensor& x, const Lens& glass) {
  const auto at = plane_of(x);
  auto v = bent(x, at, glass);
  if (glass.blur > 0) {
    const auto along = [&](std::int64_t n) { return gaussian_line(n, glass.blur).to(x.options()); };
    const auto soft = along(x.size(2)).matmul(v).matmul(along(x.size(3)).t());
    v = v + at.r2 / 2 * (soft - v);
  }
  if (glass.vignette > 0) v = (v + 1) * (1 - glass.vignette * at.r2 / 2) - 1;
  return v;
}

}  // namespace spnn::boxes
