#include <spnn/core/errors.h>
#include <spnn/degradations/displacement.h>
#include <spnn/operators/line_matrices.h>

#include <torch/optim/adam.h>

#include <algorithm>
#include <vector>

namespace spnn {
namespace {

constexpr std::int64_t control_points = 9;

struct FitStage {
  double blur;   // σ in pixels
  int steps;
  double rate;   // of Adam, in units of the picture's half side
};

Tensor pixels_of(const Tensor& x) {   // [2, H, W], across first
  const auto line = [&](std::int64_t n) { return torch::linspace(-1, 1, n, x.options()); };
  const auto h = x.size(2), w = x.size(3);
  return torch::stack({line(w).unsqueeze(0).expand({h, w}), line(h).unsqueeze(1).expand({h, w})});
}

Tensor field_of(const Tensor& control, std::int64_t h, std::int64_t w) {
  return torch::upsample_bicubic2d(control, {h, w}, /*align_corners=*/true)[0];
}

Tensor blurred(const Tensor& x, double sigma) {
  if (sigma <= 0) return x;
  return gaussian_line(x.size(2), sigma).to(x.options()).matmul(x).matmul(gaussian_line(x.size(3), sigma).to(x.options()).t());
}

// What of the variance of v over the pairs no gain and offset of a pixel explain.
Tensor unexplained(const Tensor& x, const Tensor& v, const Tensor& from) {
  constexpr std::int64_t bilinear = 0, border = 1;
  auto w = torch::grid_sampler(x, from.permute({1, 2, 0}).unsqueeze(0).expand({x.size(0), -1, -1, -1}), bilinear, border, /*align_corners=*/true);
  w = w - w.mean(0);
  const auto u = v - v.mean(0);
  constexpr double little = 1e-4;   // pixels that never change say nothing
  return (u.square().mean(0) - (w * u).mean(0).square() / (w.square().mean(0) + little)).mean();
}

Tensor fitted(Tensor control, const Tensor& x, const Tensor& v, const std::vector<FitStage>& stages) {
  const torch::AutoGradMode with_gradient(true);
  const auto pixels = pixels_of(x);
  control = control.detach().clone().set_requires_grad(true);
  for (const auto& stage : stages) {
    const auto soft_x = blurred(x, stage.blur), soft_v = blurred(v, stage.blur);
    torch::optim::Adam adam({control}, torch::optim::AdamOptions(stage.rate));
    for (int step = 0; step < stage.steps; ++step) {
      adam.zero_grad();
      unexplained(soft_x, soft_v, pixels + field_of(control, x.size(2), x.size(3))).backward();
      adam.step();
    }
  }
  return control.detach();
}

using Row = std::vector<double>;

// y at `at` of the polygon through (x_i, y_i); x rises. Flat beyond the ends.
double on_polygon(const Row& x, const Row& y, double at) {
  const auto right = static_cast<std::size_t>(std::ranges::upper_bound(x, at) - x.begin());
  if (right == 0) return y.front();
  if (right == x.size()) return y.back();
  const double share = (at - x[right - 1]) / (x[right] - x[right - 1]);
  return y[right - 1] + share * (y[right] - y[right - 1]);
}

// Hat functions: the weights of the values at 0 … n − 1 for a value at each position.
Tensor interpolation_at(const Tensor& positions, std::int64_t n) {
  const auto i = torch::arange(n, torch::kFloat64);
  return (1 - (positions.clamp(0, static_cast<double>(n - 1)).unsqueeze(-1) - i).abs()).clamp_min(0);
}

// At [i][j] the column of x that row i shows in column j before the second pass: what v will show in column j where that pass reads row i.
Tensor first_pass(const Tensor& across, const Tensor& down) {
  const auto h = across.size(0), w = across.size(1);
  auto out = torch::empty({h, w}, torch::kFloat64);
  const auto from_x = across.accessor<double, 2>(), from_y = down.accessor<double, 2>();
  auto at = out.accessor<double, 2>();
  Row rising(static_cast<std::size_t>(h)), columns(static_cast<std::size_t>(h));
  for (std::int64_t j = 0; j < w; ++j) {
    for (std::int64_t i = 0; i < h; ++i) {
      const auto k = static_cast<std::size_t>(i);
      columns[k] = from_x[i][j];
      rising[k] = i == 0 ? from_y[i][j] : std::max(from_y[i][j], rising[k - 1] + 1e-6);   // a picture that folds is read once
    }
    for (std::int64_t i = 0; i < h; ++i) at[i][j] = on_polygon(rising, columns, static_cast<double>(i));
  }
  return out;
}

}  // namespace

Tensor fit_displacement(const Tensor& x, const Tensor& v) {
  require(x.dim() == 4 && x.sizes() == v.sizes(), "fit_displacement", "pairs of pictures [B, C, H, W]", to_string(x.sizes()) + " and " + to_string(v.sizes()));
  const auto a = x.detach(), b = v.detach();
  const auto common = fitted(torch::zeros({1, 2, control_points, control_points}, a.options()), a.mean(1, true), b.mean(1, true),
                             {{3, 60, 0.03}, {1.5, 60, 0.01}, {0, 40, 0.003}});
  std::vector<Tensor> fields;
  for (std::int64_t c = 0; c < x.size(1); ++c) {
    const auto own = x.size(1) == 1 ? common : fitted(common, a.slice(1, c, c + 1), b.slice(1, c, c + 1), {{0, 40, 0.003}});
    fields.push_back(field_of(own, x.size(2), x.size(3)));
  }
  return torch::stack(fields).to(torch::kFloat64);
}

WarpMatrices warp_matrices(const Tensor& d) {
  require(d.dim() == 4 && d.size(1) == 2, "warp_matrices", "displacements [C, 2, H, W]", to_string(d.sizes()));
  const auto h = d.size(2), w = d.size(3);
  const auto from = pixels_of(d) + d;
  std::vector<Tensor> rows, columns;
  for (std::int64_t c = 0; c < d.size(0); ++c) {
    const auto across = ((from[c][0] + 1) * (0.5 * static_cast<double>(w - 1))).contiguous();
    const auto down = ((from[c][1] + 1) * (0.5 * static_cast<double>(h - 1))).contiguous();
    rows.push_back(interpolation_at(first_pass(across, down), w));
    columns.push_back(interpolation_at(down.t(), h));
  }
  return {torch::stack(rows), torch::stack(columns)};
}

}  // namespace spnn
