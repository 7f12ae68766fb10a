#include <spnn/kernels/winograd_simd.h>

#include <algorithm>

#include <spnn/kernels/simd_targets.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "spnn/kernels/winograd_simd.cpp"
#include <hwy/foreach_target.h>
// The order matters: foreach_target.h first.
#include <hwy/highway.h>
#include <spnn/kernels/winograd_gemm-inl.h>
#include <spnn/kernels/winograd_transforms-inl.h>

HWY_BEFORE_NAMESPACE();
namespace spnn::kernels::HWY_NAMESPACE {

std::int64_t lanes() { return kLanes; }

// A strip is a few tile rows of kLanes planes as [row][column][lane] with the zero border: about half of the L1 cache.
constexpr std::int64_t kStripFloats = 6 * 1024;
std::int64_t strip_rows(std::int64_t w) {
  const std::int64_t width = (w + 3) / 4 * 4 + 2;
  return std::max<std::int64_t>(1, (kStripFloats / (width * kLanes) - 2) / 4);
}
std::int64_t strip_floats(std::int64_t w) {
  return (4 * strip_rows(w) + 2) * ((w + 3) / 4 * 4 + 2) * kLanes;
}

// A row of one block of `count` ≤ kLanes planes as vectors over channels.
HWY_INLINE void load_row(const float* row, std::int64_t plane, std::int64_t w, std::int64_t count, float* to) {
  const D tag;
  std::int64_t i = 0;
  if (count == kLanes) {
    for (; i + kLanes <= w; i += kLanes) {
      V v[kLanes];
      for (std::int64_t c = 0; c < kLanes; ++c) v[c] = hn::LoadU(tag, row + c * plane + i);
      transpose_square(v);
      for (std::int64_t j = 0; j < kLanes; ++j) hn::Store(v[j], tag, to + (i + j) * kLanes);
    }
    for (; i + 4 <= w; i += 4) {
      V v[4];
      load_pixels(row + i, plane, v);
      for (int j = 0; j < 4; ++j) hn::Store(v[j], tag, to + (i + j) * kLanes);
    }
  }
  for (; i < w; ++i)
    for (std::int64_t c = 0; c < kLanes; ++c) to[i * kLanes + c] = c < count ? row[c * plane + i] : 0.0f;
}

// The inverse: vectors over channels into a row of planes, plus that of the residual if there is one.
HWY_INLINE void store_row(const float* from, std::int64_t plane, std::int64_t w, std::int64_t count, const float* residual,
                          float* row) {
  const D tag;
  std::int64_t i = 0;
  if (count == kLanes) {
    for (; i + kLanes <= w; i += kLanes) {
      V v[kLanes];
      for (std::int64_t j = 0; j < kLanes; ++j) v[j] = hn::Load(tag, from + (i + j) * kLanes);
      transpose_square(v);
      for (std::int64_t c = 0; c < kLanes; ++c) {
        const std::int64_t at = c * plane + i;
        hn::StoreU(residual == nullptr ? v[c] : hn::Add(v[c], hn::LoadU(tag, residual + at)), tag, row + at);
      }
    }
    for (; i + 4 <= w; i += 4) {
      V v[4];
      for (int j = 0; j < 4; ++j) v[j] = hn::Load(tag, from + (i + j) * kLanes);
      store_pixels(v, residual == nullptr ? nullptr : residual + i, row + i, plane);
    }
  }
  for (; i < w; ++i)
    for (std::int64_t c = 0; c < count; ++c) {
      const std::int64_t at = c * plane + i;
      row[at] = from[i * kLanes + c] + (residual == nullptr ? 0.0f : residual[at]);
    }
}

// Every one of w vectors twice, in place: from the end, so that none is overwritten before it is read.
HWY_INLINE void double_row(float* row, std::int64_t w) {
  const D tag;
  for (std::int64_t i = w - 1; i >= 0; --i) {
    const V v = hn::Load(tag, row + i * kLanes);
    hn::Store(v, tag, row + 2 * i * kLanes);
    hn::Store(v, tag, row + (2 * i + 1) * kLanes);
  }
}

// Rows [top, bottom) of the map of one block of `count` ≤ kLanes planes from x on, zero outside of the map.
HWY_NOINLINE void load_strip(const float* x, const Planes& planes, bool doubled, std::int64_t count, std::int64_t top,
                             std::int64_t bottom, float* strip) {
  const std::int64_t each = doubled ? 2 : 1, w = planes.w / each, plane = planes.h / each * w;
  const std::int64_t width = planes.tiles_x() * 4 + 2;
  for (std::int64_t y = top; y < bottom; ++y, strip += width * kLanes) {
    if (y < 0 || y >= planes.h) {
      std::fill_n(strip, width * kLanes, 0.0f);
      continue;
    }
    float* to = strip + kLanes;
    if (doubled && y % 2 == 1 && y > top) {   // the row above again
      std::copy_n(to - width * kLanes, planes.w * kLanes, to);
    } else {
      load_row(x + y / each * w, plane, w, count, to);
      if (doubled) double_row(to, w);
    }
    std::fill_n(strip, kLanes, 0.0f);
    std::fill(to + planes.w * kLanes, strip + width * kLanes, 0.0f);
  }
}

HWY_INLINE void input_tile(const float* HWY_RESTRICT d, std::int64_t row, float* HWY_RESTRICT v,
                           std::int64_t point_stride) {
  const D tag;
  V half[6][6];   // [column][row transformed]
  for (int x = 0; x < 6; ++x) {
    V column[6];
    for (int y = 0; y < 6; ++y) column[y] = hn::Load(tag, d + y * row + x * kLanes);
    input_1d(column, half[x]);
  }
  for (int y = 0; y < 6; ++y) {
    V line[6], o[6];
    for (int x = 0; x < 6; ++x) line[x] = half[x][y];
    input_1d(line, o);
    for (int x = 0; x < 6; ++x) hn::Store(o[x], tag, v + (y * 6 + x) * point_stride);
  }
}

void transform_input(const Source& source, const Planes& planes, std::int64_t first, std::int64_t last,
                     std::int64_t origin, std::int64_t block, const Panel& v, float* strip) {
  const std::int64_t tiles_y = planes.tiles_y(), tiles_x = planes.tiles_x(), rows = strip_rows(planes.w);
  const std::int64_t width = (tiles_x * 4 + 2) * kLanes, plane = planes.h * planes.w / (source.doubled ? 4 : 1);
  const std::int64_t count = std::min(kLanes, planes.c - block * kLanes);
  float* to = v.data + block * v.tiles * kLanes;
  for (std::int64_t r = first; r < last;) {
    const std::int64_t image = r / tiles_y, ty = r % tiles_y;
    const std::int64_t n = std::min({rows, last - r, tiles_y - ty});
    const float* from = source.x + (image * planes.c + block * kLanes) * plane;
    load_strip(from, planes, source.doubled, count, ty * 4 - 1, (ty + n) * 4 + 1, strip);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t tx = 0; tx < tiles_x; ++tx)
        input_tile(strip + j * 4 * width + tx * 4 * kLanes, width,
                   to + ((r + j - origin) * tiles_x + tx) * kLanes, v.point_stride);
    r += n;
  }
}

// The 4×4 pixels of a tile that lie inside of the image; `inside` tells that all do and that all channels exist.
struct TilePlace {
  std::int64_t plane, w, rows, columns, count;
  bool inside;
};

HWY_INLINE TilePlace tile_place(const Planes& planes, std::int64_t ty, std::int64_t tx, std::int64_t count) {
  TilePlace t{planes.h * planes.w, planes.w, std::min<std::int64_t>(4, planes.h - ty * 4),
              std::min<std::int64_t>(4, planes.w - tx * 4), count, false};
  t.inside = t.rows == 4 && t.columns == 4 && count == kLanes;
  return t;
}

HWY_INLINE void load_tile(const float* p, const TilePlace& t, V (*v)[4]) {
  const D tag;
  if (t.inside) {
    for (int y = 0; y < 4; ++y) load_pixels(p + y * t.w, t.plane, v[y]);
    return;
  }
  HWY_ALIGN float buffer[16 * kLanes] = {};
  for (std::int64_t y = 0; y < t.rows; ++y)
    for (std::int64_t x = 0; x < t.columns; ++x)
      for (std::int64_t c = 0; c < t.count; ++c) buffer[(y * 4 + x) * kLanes + c] = p[c * t.plane + y * t.w + x];
  for (int i = 0; i < 16; ++i) v[i / 4][i % 4] = hn::Load(tag, buffer + i * kLanes);
}

void transform_output_gradient(const float* dy, const Planes& planes, std::int64_t first, std::int64_t last,
                               std::int64_t origin, std::int64_t block, const Panel& m) {
  const D tag;
  const std::int64_t tiles_y = planes.tiles_y(), tiles_x = planes.tiles_x();
  const std::int64_t count = std::min(kLanes, planes.c - block * kLanes);
  for (std::int64_t r = first; r < last; ++r) {
    const std::int64_t ty = r % tiles_y;
    const float* from = dy + ((r / tiles_y * planes.c + block * kLanes) * planes.h + ty * 4) * planes.w;
    float* to = m.data + (block * m.tiles + (r - origin) * tiles_x) * kLanes;
    for (std::int64_t tx = 0; tx < tiles_x; ++tx, to += kLanes) {
      V pixels[4][4], half[6][4];   // half: [row transformed][column]
      load_tile(from + tx * 4, tile_place(planes, ty, tx, count), pixels);
      for (int x = 0; x < 4; ++x) {
        V column[4], o[6];
        for (int y = 0; y < 4; ++y) column[y] = pixels[y][x];
        output_adjoint_1d(column, o);
        for (int y = 0; y < 6; ++y) half[y][x] = o[y];
      }
      for (int y = 0; y < 6; ++y) {
        V o[6];
        output_adjoint_1d(half[y], o);
        for (int x = 0; x < 6; ++x) hn::Store(o[x], tag, to + (y * 6 + x) * m.point_stride);
      }
    }
  }
}

// Aᵀ m A + bias into four rows of vectors, `row` floats apart.
HWY_INLINE void output_tile(const float* HWY_RESTRICT m, std::int64_t point_stride, V bias, float* HWY_RESTRICT to,
                            std::int64_t row) {
  const D tag;
  V half[4][6];   // [row][point]
  for (int x = 0; x < 6; ++x) {
    V column[6], o[4];
    for (int i = 0; i < 6; ++i) column[i] = hn::Load(tag, m + (i * 6 + x) * point_stride);
    output_1d(column, o);
    for (int i = 0; i < 4; ++i) half[i][x] = o[i];
  }
  for (int i = 0; i < 4; ++i) {
    V o[4];
    output_1d(half[i], o);
    for (int x = 0; x < 4; ++x) hn::Store(hn::Add(o[x], bias), tag, to + i * row + x * kLanes);
  }
}

// A row of tiles waits in `strip`, so that memory is written in whole rows: that is what hardware prefetches.
void transform_output(const Panel& m, const Addends& addends, const Planes& planes, std::int64_t first,
                      std::int64_t last, std::int64_t origin, std::int64_t block, float* y, float* strip) {
  const std::int64_t tiles_y = planes.tiles_y(), tiles_x = planes.tiles_x(), width = tiles_x * 4 * kLanes;
  const std::int64_t count = std::min(kLanes, planes.c - block * kLanes);
  HWY_ALIGN float bias[kLanes] = {};
  for (std::int64_t r = first; r < last; ++r) {
    const std::int64_t image = r / tiles_y, top = r % tiles_y * 4;
    if (addends.bias != nullptr) std::copy_n(addends.bias + image * addends.bias_stride + block * kLanes, count, bias);
    const V b = hn::Load(D(), bias);
    const float* from = m.data + (block * m.tiles + (r - origin) * tiles_x) * kLanes;
    for (std::int64_t tx = 0; tx < tiles_x; ++tx)
      output_tile(from + tx * kLanes, m.point_stride, b, strip + tx * 4 * kLanes, width);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(4, planes.h - top); ++i) {
      const std::int64_t at = ((image * planes.c + block * kLanes) * planes.h + top + i) * planes.w;
      store_row(strip + i * width, planes.h * planes.w, planes.w, count,
                addends.residual == nullptr ? nullptr : addends.residual + at, y + at);
    }
  }
}

void transform_weight(const float* weight, const WeightShape& shape, std::int64_t first, std::int64_t last, float* u) {
  const D tag;
  const hn::RebindToSigned<D> itag;
  const std::int64_t outs = shape.adjoint ? shape.c : shape.k, ins = shape.adjoint ? shape.k : shape.c;
  const std::int64_t out_stride = shape.adjoint ? 9 : shape.c * 9, in_stride = shape.adjoint ? shape.c * 9 : 9;
  const std::int64_t ins_padded = (ins + kLanes - 1) / kLanes * kLanes;
  const std::int64_t point = point_stride((outs + kLanes - 1) / kLanes * kLanes * ins_padded);
  for (std::int64_t block = first; block < last; ++block) {
    const std::int64_t count = std::min(kLanes, outs - block * kLanes);
    const auto lane = hn::Min(hn::Iota(itag, 0), hn::Set(itag, static_cast<std::int32_t>(count - 1)));
    const auto index = hn::Mul(lane, hn::Set(itag, static_cast<std::int32_t>(out_stride)));
    const auto exists = hn::FirstN(tag, static_cast<std::size_t>(count));
    for (std::int64_t c = 0; c < ins_padded; ++c) {
      float* to = u + (block * ins_padded + c) * kLanes;
      const float* from = weight + block * kLanes * out_stride + c * in_stride;
      V half[3][6];   // [column][row transformed]
      for (int x = 0; x < 3; ++x) {
        V g[3];
        for (int y = 0; y < 3; ++y) {
          const int tap = shape.adjoint ? 8 - (y * 3 + x) : y * 3 + x;
          g[y] = c < ins ? hn::IfThenElseZero(exists, hn::GatherIndex(tag, from + tap, index)) : hn::Zero(tag);
        }
        weight_1d(g, half[x]);
      }
      for (int y = 0; y < 6; ++y) {
        const V line[3] = {half[0][y], half[1][y], half[2][y]};
        V o[6];
        weight_1d(line, o);
        for (int x = 0; x < 6; ++x) hn::Store(o[x], tag, to + (y * 6 + x) * point);
      }
    }
  }
}

void transform_weight_gradient(const float* du, const WeightShape& shape, std::int64_t k, float* dw) {
  const D tag;
  const std::int64_t c_padded = (shape.c + kLanes - 1) / kLanes * kLanes;
  const std::int64_t point = point_stride((shape.k + kLanes - 1) / kLanes * kLanes * c_padded);
  for (std::int64_t c0 = 0; c0 < shape.c; c0 += kLanes) {
    const float* from = du + k * c_padded + c0;
    V half[3][6];   // [row][point]
    for (int x = 0; x < 6; ++x) {
      V column[6], o[3];
      for (int y = 0; y < 6; ++y) column[y] = hn::Load(tag, from + (y * 6 + x) * point);
      weight_adjoint_1d(column, o);
      for (int y = 0; y < 3; ++y) half[y][x] = o[y];
    }
    HWY_ALIGN float taps[9 * kLanes];
    for (int y = 0; y < 3; ++y) {
      V o[3];
      weight_adjoint_1d(half[y], o);
      for (int x = 0; x < 3; ++x) hn::Store(o[x], tag, taps + (y * 3 + x) * kLanes);
    }
    float* to = dw + (k * shape.c + c0) * 9;
    const std::int64_t count = std::min(kLanes, shape.c - c0);
    for (std::int64_t c = 0; c < count; ++c)
      for (int tap = 0; tap < 9; ++tap) to[c * 9 + tap] = taps[tap * kLanes + c];
  }
}

}  // namespace spnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace spnn::kernels {

HWY_EXPORT(lanes);
HWY_EXPORT(strip_floats);
HWY_EXPORT(transform_weight);
HWY_EXPORT(transform_input);
HWY_EXPORT(transform_output_gradient);
HWY_EXPORT(transform_output);
HWY_EXPORT(multiply);
HWY_EXPORT(multiply_gradient);
HWY_EXPORT(add_tiles);
HWY_EXPORT(transform_weight_gradient);

std::int64_t lanes() { return HWY_DYNAMIC_DISPATCH(lanes)(); }
std::int64_t strip_floats(std::int64_t w) { return HWY_DYNAMIC_DISPATCH(strip_floats)(w); }
void transform_weight(const float* weight, const WeightShape& shape, std::int64_t first, std::int64_t last, float* u) {
  HWY_DYNAMIC_DISPATCH(transform_weight)(weight, shape, first, last, u);
}
void transform_input(const Source& source, const Planes& planes, std::int64_t first, std::int64_t last,
                     std::int64_t origin, std::int64_t block, const Panel& v, float* strip) {
  HWY_DYNAMIC_DISPATCH(transform_input)(source, planes, first, last, origin, block, v, strip);
}
void transform_output_gradient(const float* dy, const Planes& planes, std::int64_t first, std::int64_t last,
                               std::int64_t origin, std::int64_t block, const Panel& m) {
  HWY_DYNAMIC_DISPATCH(transform_output_gradient)(dy, planes, first, last, origin, block, m);
}
void transform_output(const Panel& m, const Addends& addends, const Planes& planes, std::int64_t first,
                      std::int64_t last, std::int64_t origin, std::int64_t block, float* y, float* strip) {
  HWY_DYNAMIC_DISPATCH(transform_output)(m, addends, planes, first, last, origin, block, y, strip);
}
void multiply(const Panel& v, const float* u, const Panel& m, std::int64_t first, std::int64_t last, bool doubled) {
  HWY_DYNAMIC_DISPATCH(multiply)(v, u, m, first, last, doubled);
}
void multiply_gradient(const Panel& m, const Panel& v, std::int64_t p, std::int64_t block, bool accumulate, float* du) {
  HWY_DYNAMIC_DISPATCH(multiply_gradient)(m, v, p, block, accumulate, du);
}
void add_tiles(const Panel& m, std::int64_t p, std::int64_t first, std::int64_t last, std::int64_t block,
               std::int64_t count, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_tiles)(m, p, first, last, block, count, sums);
}
void transform_weight_gradient(const float* du, const WeightShape& shape, std::int64_t k, float* dw) {
  HWY_DYNAMIC_DISPATCH(transform_weight_gradient)(du, shape, k, dw);
}

}  // namespace spnn::kernels
#endif
