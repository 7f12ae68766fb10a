#include <spnn/diffusion/cell_patterns.h>

#include <cmath>

namespace spnn {
namespace {

// Power of the pattern of 2×2 cells in photos, over that of white noise of unit variance: |DFT|²/pixels at the Nyquist frequencies, pixels in
// [−1, 1]. CelebA-HQ 64 has 0.05 to 0.07 in rows and columns (what edges give) and 0.001 in the checkerboard.
constexpr double kPatternOfPhotos = 0.05;

}  // namespace

Tensor cell_pattern(const Tensor& x, std::int64_t side) {
  const auto batch = x.size(0), channels = x.size(1), rows = x.size(2) / side, columns = x.size(3) / side;
  const auto cell = x.reshape({batch, channels, rows, side, columns, side}).mean({2, 4});
  return (cell - cell.mean({2, 3}, /*keepdim=*/true)).repeat({1, 1, rows, columns});
}

// Of a pattern c_t = √ᾱ c + √(1−ᾱ) ε with power S of c and 1 of ε: E[ε | c_t] = √(1−ᾱ)/(ᾱ S + 1 − ᾱ) c_t.
Tensor with_pattern_known(const Tensor& eps, const Tensor& x_t, double alpha_bar, std::int64_t side) {
  const double share = std::sqrt(1 - alpha_bar) / (alpha_bar * kPatternOfPhotos + 1 - alpha_bar);
  return eps + cell_pattern(share * x_t - eps, side);
}

}  // namespace spnn
