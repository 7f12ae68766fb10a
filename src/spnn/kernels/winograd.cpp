#include <spnn/kernels/winograd.h>

#include <spnn/kernels/parallel.h>
#include <spnn/kernels/scratch.h>
#include <spnn/kernels/winograd_simd.h>

#include <algorithm>

namespace spnn::kernels {
namespace {

constexpr std::int64_t kPoints = 36;

std::int64_t padded(std::int64_t channels) { return (channels + lanes() - 1) / lanes() * lanes(); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Panel make_panel(float* data, std::int64_t channels, std::int64_t tiles) {
  return {data, channels, tiles, point_stride(channels * tiles)};
}
std::int64_t panel_floats(std::int64_t channels, std::int64_t tiles) {
  return kPoints * point_stride(channels * tiles);
}

float* strip_of_thread(std::int64_t w) {
  thread_local Scratch scratch;
  return scratch.floats(strip_floats(w));
}
float* panels_of_thread(std::int64_t floats) {
  thread_local Scratch scratch;
  return scratch.floats(floats);
}

struct Convolution {
  ConvolutionShape shape;
  Source x;
  const float* u;
  Addends addends;
  float* y;

  Planes in() const { return {shape.c, shape.h, shape.w}; }
  Planes out() const { return {shape.k, shape.h, shape.w}; }
  std::int64_t tile_rows() const { return shape.n * in().tiles_y(); }
};

// All of the work for tile rows [first, last) on one thread: the panels stay in its cache.
void convolve_rows(const Convolution& conv, std::int64_t first, std::int64_t last) {
  const std::int64_t c = padded(conv.shape.c), k = padded(conv.shape.k), tiles = (last - first) * conv.in().tiles_x();
  float* data = panels_of_thread(panel_floats(c, tiles) + panel_floats(k, tiles));
  const Panel v = make_panel(data, c, tiles), m = make_panel(data + panel_floats(c, tiles), k, tiles);
  float* strip = strip_of_thread(conv.shape.w);
  for (std::int64_t b = 0; b < c / lanes(); ++b)
    transform_input(conv.x, conv.in(), first, last, first, b, v, strip);
  multiply(v, conv.u, m, 0, kPoints, conv.x.doubled);
  for (std::int64_t b = 0; b < k / lanes(); ++b)
    transform_output(m, conv.addends, conv.out(), first, last, first, b, conv.y, strip);
}

// Few tiles: the weight is the largest operand, so each thread takes some of the points and reads its part only.
void convolve_by_points(const Convolution& conv) {
  const std::int64_t c = padded(conv.shape.c), k = padded(conv.shape.k), rows = conv.tile_rows();
  const std::int64_t tiles = rows * conv.in().tiles_x();
  float* data = panels_of_thread(panel_floats(c, tiles) + panel_floats(k, tiles));
  const Panel v = make_panel(data, c, tiles), m = make_panel(data + panel_floats(c, tiles), k, tiles);
  parallel_each(c / lanes(), [&](std::int64_t b) {
    transform_input(conv.x, conv.in(), 0, rows, 0, b, v, strip_of_thread(conv.shape.w));
  });
  parallel_each(kPoints, [&](std::int64_t p) { multiply(v, conv.u, m, p, p + 1, conv.x.doubled); });
  parallel_each(k / lanes(), [&](std::int64_t b) {
    transform_output(m, conv.addends, conv.out(), 0, rows, 0, b, conv.y, strip_of_thread(conv.shape.w));
  });
}

// db += Σ dy of tile rows [first, last), image by image: the point (1, 1) of A dy Aᵀ is the sum of its tile.
void add_images(const Panel& m, std::int64_t block, const Planes& out, std::int64_t first, std::int64_t last, float* db) {
  const std::int64_t tiles_y = out.tiles_y(), tiles_x = out.tiles_x();
  const std::int64_t count = std::min(lanes(), out.c - block * lanes());
  for (std::int64_t r = first; r < last;) {
    const std::int64_t image = r / tiles_y, end = std::min(last, (image + 1) * tiles_y);
    add_tiles(m, 7, (r - first) * tiles_x, (end - first) * tiles_x, block, count, db + image * out.c + block * lanes());
    r = end;
  }
}

}  // namespace

std::int64_t winograd_weight_floats(std::int64_t k, std::int64_t c) {
  return kPoints * point_stride(padded(k) * padded(c));
}

void winograd_weight(const float* weight, std::int64_t k, std::int64_t c, bool adjoint, float* u) {
  const std::int64_t blocks = padded(adjoint ? c : k) / lanes();
  parallel_each(blocks, [&](std::int64_t b) { transform_weight(weight, {k, c, adjoint}, b, b + 1, u); });
}

void winograd_convolution(const ConvolutionShape& shape, const Source& x, const float* u, const Addends& addends,
                          float* y) {
  const Convolution conv{shape, x, u, addends, y};
  const std::int64_t rows = conv.tile_rows(), tiles_x = conv.in().tiles_x(), threads = at::get_num_threads();
  constexpr std::int64_t few_tiles = 32;   // a thread: below, reading the weight dominates
  if (threads > 1 && (rows * tiles_x < few_tiles * threads || rows < threads)) return convolve_by_points(conv);
  // Tiles enough to pay for reading the weight; more of them only push the panels farther out of the caches.
  const std::int64_t tiles = std::clamp<std::int64_t>(padded(shape.c) / 2, 64, 128);
  const std::int64_t blocks = ceil_div(ceil_div(rows * tiles_x, tiles), threads) * threads;
  const std::int64_t block_rows = ceil_div(rows, std::min(blocks, rows));
  parallel_each(ceil_div(rows, block_rows), [&](std::int64_t i) {
    convolve_rows(conv, i * block_rows, std::min(rows, (i + 1) * block_rows));
  });
}

void winograd_weight_gradient(const ConvolutionShape& shape, const float* x, const float* dy, float* dw, float* db) {
  const Planes in{shape.c, shape.h, shape.w}, out{shape.k, shape.h, shape.w};
  const std::int64_t c = padded(shape.c), k = padded(shape.k), rows = shape.n * in.tiles_y(), tiles_x = in.tiles_x();
  const std::int64_t c_blocks = c / lanes(), k_blocks = k / lanes();
  // The sum is read and written once per step: 256 tiles per step keep that small beside the panels.
  const std::int64_t step = std::clamp<std::int64_t>(256 / tiles_x, 1, rows);
  float* data = panels_of_thread(panel_floats(c, step * tiles_x) + panel_floats(k, step * tiles_x));
  thread_local Scratch sum;
  float* du = sum.floats(winograd_weight_floats(shape.k, shape.c));
  std::fill_n(db, shape.n * shape.k, 0.0f);
  for (std::int64_t first = 0; first < rows; first += step) {
    const std::int64_t last = std::min(rows, first + step), tiles = (last - first) * tiles_x;
    const Panel v = make_panel(data, c, tiles), m = make_panel(data + panel_floats(c, tiles), k, tiles);
    parallel_each(c_blocks + k_blocks, [&](std::int64_t b) {
      if (b < c_blocks) transform_input({x}, in, first, last, first, b, v, strip_of_thread(shape.w));
      else transform_output_gradient(dy, out, first, last, first, b - c_blocks, m);
    });
    parallel_each(kPoints * k_blocks, [&](std::int64_t i) {
      multiply_gradient(m, v, i / k_blocks, i % k_blocks, first > 0, du);
    });
    parallel_each(k_blocks, [&](std::int64_t b) { add_images(m, b, out, first, last, db); });
  }
  parallel_each(shape.k, [&](std::int64_t i) { transform_weight_gradient(du, {shape.k, shape.c, false}, i, dw); });
}

}  // namespace spnn::kernels
