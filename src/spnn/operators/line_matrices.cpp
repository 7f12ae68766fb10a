#include <spnn/core/errors.h>
#include <spnn/operators/line_matrices.h>

#include <cmath>
#include <functional>

namespace spnn {
namespace {

std::int64_t reflected(std::int64_t i, std::int64_t n) {
  const auto period = 2 * n;
  i = ((i % period) + period) % period;
  return i < n ? i : period - 1 - i;
}

// Row j weighs pixel i by w(i − centre(j)), |i − centre| ≤ reach.
Tensor line_matrix(std::int64_t rows, std::int64_t n, const std::function<double(std::int64_t)>& centre, double reach,
                   const std::function<double(double)>& weight) {
  auto A = torch::zeros({rows, n}, torch::kFloat64);
  auto entry = A.accessor<double, 2>();
  for (std::int64_t j = 0; j < rows; ++j) {
    const double c = centre(j);
    for (auto i = static_cast<std::int64_t>(std::ceil(c - reach)); i <= std::floor(c + reach); ++i) {
      entry[j][reflected(i, n)] += weight(static_cast<double>(i) - c);
    }
  }
  return A / A.sum(1, /*keepdim=*/true);
}

void require_divides(std::int64_t n, std::int64_t factor, std::string_view where) {
  require(factor >= 1 && n % factor == 0, where, fmt::format("a factor that divides {}", n), fmt::format("{}", factor));
}

double cubic(double t) {
  t = std::abs(t);
  if (t <= 1) return 1.5 * t * t * t - 2.5 * t * t + 1;
  if (t < 2) return -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2;
  return 0;
}

// The middle of cell j.
std::function<double(std::int64_t)> cell_centre(std::int64_t factor) {
  return [f = static_cast<double>(factor)](std::int64_t j) { return (static_cast<double>(j) + 0.5) * f - 0.5; };
}

double itself(std::int64_t j) { return static_cast<double>(j); }

}  // namespace

Tensor pooling_line(std::int64_t n, std::int64_t factor) {
  require_divides(n, factor, "average pooling");
  return line_matrix(n / factor, n, cell_centre(factor), static_cast<double>(factor) / 2, [](double) { return 1.0; });
}

Tensor bicubic_line(std::int64_t n, std::int64_t factor) {
  require_divides(n, factor, "bicubic reduction");
  const auto f = static_cast<double>(factor);
  return line_matrix(n / factor, n, cell_centre(factor), 2 * f, [f](double t) { return cubic(t / f); });
}

Tensor gaussian_line(std::int64_t n, double sigma) {
  require(sigma > 0 && std::isfinite(sigma), "Gaussian blur", "a positive sigma in pixels", fmt::format("{}", sigma));
  return line_matrix(n, n, itself, std::ceil(3 * sigma), [sigma](double t) { return std::exp(-t * t / (2 * sigma * sigma)); });
}

Tensor uniform_line(std::int64_t n, std::int64_t size) {
  require(size >= 1 && size % 2 == 1, "uniform blur", "an odd size in pixels", fmt::format("{}", size));
  return line_matrix(n, n, itself, static_cast<double>(size / 2), [](double) { return 1.0; });
}

}  // namespace spnn
