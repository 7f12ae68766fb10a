#include <spnn/kernels/pointwise_simd.h>

#include <algorithm>

#include <spnn/kernels/simd_targets.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spnn/kernels/pointwise_simd.cpp"
#include <hwy/foreach_target.h>
// The order matters: foreach_target.h first.
#include <hwy/highway.h>
#include <spnn/kernels/micro_kernel-inl.h>

HWY_BEFORE_NAMESPACE();
namespace spnn::kernels::HWY_NAMESPACE {

void pack_pixels(const float* x, std::int64_t c, std::int64_t pixels, std::int64_t first, std::int64_t last,
                 std::int64_t block, const Panel& panel) {
  const std::int64_t count = std::min(kLanes, c - block * kLanes);
  float* to = panel.data + block * panel.tiles * kLanes;
  for (std::int64_t image = first; image < last; ++image) {
    const float* from = x + (image * c + block * kLanes) * pixels;
    std::int64_t i = 0;
    if (count == kLanes) {
      for (; i + 4 <= pixels; i += 4, to += 4 * kLanes) {
        V v[4];
        load_pixels(from + i, pixels, v);
        for (int j = 0; j < 4; ++j) hn::Store(v[j], D(), to + j * kLanes);
      }
    }
    for (; i < pixels; ++i, to += kLanes)
      for (std::int64_t j = 0; j < kLanes; ++j) to[j] = j < count ? from[j * pixels + i] : 0.0f;
  }
}

void pack_pointwise(const float* weight, std::int64_t k, std::int64_t c, bool transposed, float* packed) {
  if (!transposed) {   // a row of the weight is a plane whose pixels are the input channels
    const Panel panel{packed, (k + kLanes - 1) / kLanes * kLanes, c, 0};
    for (std::int64_t b = 0; b * kLanes < k; ++b) HWY_NAMESPACE::pack_pixels(weight, k, c, 0, 1, b, panel);
    return;
  }
  for (std::int64_t b = 0; b * kLanes < c; ++b) {
    const std::int64_t count = std::min(kLanes, c - b * kLanes);
    for (std::int64_t i = 0; i < k; ++i, packed += kLanes) {
      std::copy_n(weight + i * c + b * kLanes, count, packed);
      std::fill(packed + count, packed + kLanes, 0.0f);
    }
  }
}

// y of `count` vectors of pixels from a packed panel [count][c][kLanes], of which only `some` of the last axis may exist.
HWY_INLINE void multiply_panel(const PointwiseJob& job, std::int64_t at, std::int64_t y_vector, std::int64_t some,
                               std::int64_t count, const float* panel) {
  const D tag;
  const auto [n, c, k, pixels] = job.shape;
  // The sum starts from bias and residual.
  HWY_ALIGN float row[kRows * 3 * kLanes];
  for (std::int64_t m = 0; m < k; m += kRows) {
    const std::int64_t rows = std::min<std::int64_t>(kRows, k - m);
    const bool direct = some == kLanes;
    float* y = direct ? job.y + at + m * pixels : row;
    const Product s{.outer = 1, .inner = c, .a_outer = 0, .a_block = c * kLanes, .b_vector = c * kLanes,
                    .c_row = direct ? pixels : kLanes, .c_vector = y_vector};
    for (std::int64_t r = 0; r < rows; ++r) {
      const V bias = hn::Set(tag, job.bias != nullptr ? job.bias[m + r] : 0.0f);
      for (std::int64_t v = 0; v < count; ++v) {
        V start = bias;
        const float* residual = job.residual + at + (m + r) * pixels + v * y_vector;
        if (job.residual != nullptr && direct) start = hn::Add(start, hn::LoadU(tag, residual));
        hn::StoreU(start, tag, y + r * s.c_row + v * s.c_vector);
        if (job.residual != nullptr && !direct)
          for (std::int64_t i = 0; i < some; ++i) y[r * s.c_row + i] += residual[i];
      }
    }
    multiply_rows<true, true>(s, rows, count, job.packed + m / kLanes * c * kLanes + m % kLanes, panel, y);
    if (!direct)
      for (std::int64_t r = 0; r < rows; ++r) std::copy_n(row + r * kLanes, some, job.y + at + (m + r) * pixels);
  }
}

void pointwise_vectors(const PointwiseJob& job, std::int64_t image, std::int64_t pixel, std::int64_t count,
                       float* panel) {
  const D tag;
  const auto [n, c, k, pixels] = job.shape;
  const std::int64_t some = std::min(kLanes, pixels - pixel);
  std::int64_t channel = 0;
  for (const Channels& part : job.parts) {
    const std::int64_t x_vector = pixels == kLanes ? part.c * pixels : kLanes;
    const float* x = part.x + image * part.c * pixels + pixel;
    for (std::int64_t i = 0; i < part.c; ++i, ++channel)   // a plane's vectors together: they are neighbours in memory
      for (std::int64_t v = 0; v < count; ++v) {
        float* to = panel + (v * c + channel) * kLanes;
        const float* from = x + v * x_vector + i * pixels;
        if (some == kLanes) hn::Store(hn::LoadU(tag, from), tag, to);
        else std::fill(std::copy_n(from, some, to), to + kLanes, 0.0f);
      }
  }
  multiply_panel(job, image * k * pixels + pixel, pixels == kLanes ? k * pixels : kLanes, some, count, panel);
}

// The nine taps of kLanes neighbouring results from (y, x) on, each a vector.
HWY_INLINE void pack_taps(const float* plane, const Planes& map, std::int64_t y, std::int64_t x, float* to) {
  const D tag;
  HWY_ALIGN float even[2 * kLanes];
  for (std::int64_t ky = 0; ky < 3; ++ky, to += 3 * kLanes) {
    if (2 * y + ky == map.h) {
      std::fill_n(to, 3 * kLanes, 0.0f);
      continue;
    }
    const float* row = plane + (2 * y + ky) * map.w + 2 * x;
    const V low = hn::LoadU(tag, row), high = hn::LoadU(tag, row + kLanes);
    hn::Store(hn::ConcatEven(tag, high, low), tag, even);
    even[kLanes] = 2 * (x + kLanes) < map.w ? row[2 * kLanes] : 0.0f;
    hn::Store(hn::Load(tag, even), tag, to);
    hn::Store(hn::ConcatOdd(tag, high, low), tag, to + kLanes);
    hn::Store(hn::LoadU(tag, even + 1), tag, to + 2 * kLanes);
  }
}

HWY_INLINE float tap_at(const float* plane, const Planes& map, std::int64_t y, std::int64_t x) {
  return y < map.h && x < map.w ? plane[y * map.w + x] : 0.0f;
}

void halved_vectors(const PointwiseJob& job, const Planes& map, std::int64_t image, std::int64_t pixel, std::int64_t count,
                    float* panel) {
  const auto [n, c, k, pixels] = job.shape;
  const std::int64_t some = std::min(kLanes, pixels - pixel), w = map.w / 2;
  for (std::int64_t i = 0; i < map.c; ++i) {
    const float* plane = job.parts[0].x + (image * map.c + i) * map.h * map.w;
    for (std::int64_t v = 0; v < count; ++v) {
      const std::int64_t first = pixel + v * kLanes;
      float* to = panel + (v * c + i * 9) * kLanes;
      if (w % kLanes == 0) {
        pack_taps(plane, map, first / w, first % w, to);
        continue;
      }
      for (std::int64_t j = 0; j < kLanes; ++j)
        for (std::int64_t tap = 0; tap < 9; ++tap) {
          const std::int64_t at = first + j;
          to[tap * kLanes + j] = j < some ? tap_at(plane, map, at / w * 2 + tap / 3, at % w * 2 + tap % 3) : 0.0f;
        }
    }
  }
  multiply_panel(job, image * k * pixels + pixel, kLanes, some, count, panel);
}

}  // namespace spnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spnn::kernels {

HWY_EXPORT(pack_pixels);
HWY_EXPORT(pack_pointwise);
HWY_EXPORT(pointwise_vectors);
HWY_EXPORT(halved_vectors);

void pack_pixels(const float* x, std::int64_t c, std::int64_t pixels, std::int64_t first, std::int64_t last,
                 std::int64_t block, const Panel& panel) {
  HWY_DYNAMIC_DISPATCH(pack_pixels)(x, c, pixels, first, last, block, panel);
}
void pack_pointwise(const float* weight, std::int64_t k, std::int64_t c, bool transposed, float* packed) {
  HWY_DYNAMIC_DISPATCH(pack_pointwise)(weight, k, c, transposed, packed);
}
void pointwise_vectors(const PointwiseJob& job, std::int64_t image, std::int64_t pixel, std::int64_t count, float* panel) {
  HWY_DYNAMIC_DISPATCH(pointwise_vectors)(job, image, pixel, count, panel);
}
void halved_vectors(const PointwiseJob& job, const Planes& map, std::int64_t image, std::int64_t pixel, std::int64_t count,
                    float* panel) {
  HWY_DYNAMIC_DISPATCH(halved_vectors)(job, map, image, pixel, count, panel);
}

}  // namespace spnn::kernels
#endif
