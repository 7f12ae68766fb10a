#include <spnn/kernels/pointwise.h>

#include <spnn/kernels/parallel.h>
#include <spnn/kernels/scratch.h>

#include <algorithm>

namespace spnn::kernels {
namespace {

std::int64_t padded(std::int64_t channels) { return (channels + lanes() - 1) / lanes() * lanes(); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// body(run, first vector, count ≤ 3, panel) for the `whole` vectors of each run, and for an incomplete one behind them.
template <class Body>
void each_group(const PointwiseShape& shape, std::int64_t runs, std::int64_t whole, const Body& body) {
  const std::int64_t l = lanes(), groups = ceil_div(whole, 3) + (shape.pixels % l != 0 ? 1 : 0);
  const std::int64_t grain = std::max<std::int64_t>(1, 200'000 / (shape.c * shape.k * 3 * l));
  parallel_each(ceil_div(runs * groups, grain), [&](std::int64_t piece) {
    thread_local Scratch scratch;
    float* panel = scratch.floats(3 * l * shape.c);
    for (std::int64_t i = piece * grain; i < std::min(runs * groups, (piece + 1) * grain); ++i) {
      const std::int64_t v = i % groups * 3;
      if (v < whole) body(i / groups, v, std::min<std::int64_t>(3, whole - v), panel);
      else body(i / groups, whole, 1, panel);
    }
  });
}

}  // namespace

std::int64_t pointwise_weight_floats(std::int64_t k, std::int64_t c) { return padded(k) * c; }

void pointwise_convolution(const PointwiseJob& job) {
  const auto [n, c, k, pixels] = job.shape;
  // A run is what consecutive vectors can be taken from: an image, or all of them where each has one vector.
  const bool across = pixels == lanes();
  const std::int64_t runs = across ? 1 : n, whole = across ? n : pixels / lanes();
  each_group(job.shape, runs, whole, [&](std::int64_t run, std::int64_t first, std::int64_t count, float* panel) {
    pointwise_vectors(job, across ? first : run, across ? 0 : first * lanes(), count, panel);
  });
}

void halved_convolution(const PointwiseJob& job, const Planes& map) {
  const std::int64_t whole = job.shape.pixels / lanes();
  each_group(job.shape, job.shape.n, whole, [&](std::int64_t image, std::int64_t first, std::int64_t count, float* panel) {
    halved_vectors(job, map, image, first * lanes(), count, panel);
  });
}

void pointwise_weight_gradient(const PointwiseShape& shape, const float* x, const float* dy, float* dw, float* db) {
  const auto [n, c, k, pixels] = shape;
  const std::int64_t cp = padded(c), kp = padded(k), c_blocks = cp / lanes(), k_blocks = kp / lanes();
  const std::int64_t step = std::clamp<std::int64_t>(1024 / pixels, 1, n);
  thread_local Scratch panels, sum;
  float* data = panels.floats((cp + kp) * step * pixels);
  float* du = sum.floats(cp * kp);
  if (db != nullptr) std::fill_n(db, k, 0.0f);
  for (std::int64_t first = 0; first < n; first += step) {
    const std::int64_t last = std::min(n, first + step), count = (last - first) * pixels;
    const Panel v{data, cp, count, 0}, m{data + cp * count, kp, count, 0};
    parallel_each(c_blocks + k_blocks, [&](std::int64_t b) {
      if (b < c_blocks) pack_pixels(x, c, pixels, first, last, b, v);
      else pack_pixels(dy, k, pixels, first, last, b - c_blocks, m);
    });
    parallel_each(k_blocks, [&](std::int64_t b) {
      multiply_gradient(m, v, 0, b, first > 0, du);
      if (db != nullptr) add_tiles(m, 0, 0, count, b, std::min(lanes(), k - b * lanes()), db + b * lanes());
    });
  }
  for (std::int64_t i = 0; i < k; ++i) std::copy_n(du + i * cp, c, dw + i * c);
}

}  // namespace spnn::kernels
