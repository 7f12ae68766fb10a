// The two products of the Winograd domain, on the panels of winograd_simd.h. Included once per instruction set.
#if defined(SPNN_WINOGRAD_GEMM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SPNN_WINOGRAD_GEMM_INL_H
#undef SPNN_WINOGRAD_GEMM_INL_H
#else
#define SPNN_WINOGRAD_GEMM_INL_H
#endif

#include <hwy/highway.h>
#include <spnn/kernels/micro_kernel-inl.h>
#include <spnn/kernels/winograd_simd.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace spnn::kernels::HWY_NAMESPACE {

void multiply(const Panel& v, const float* u, const Panel& m, std::int64_t first, std::int64_t last, bool doubled) {
  const std::int64_t blocks = m.channels / kLanes;
  Product s{.outer = v.channels / kLanes, .inner = kLanes, .a_outer = v.tiles * kLanes, .a_block = 0,
            .b_vector = v.channels * kLanes, .c_row = kLanes, .c_vector = m.tiles * kLanes};
  // U lies in the order in which it is read, and comes from far: all tiles of one group of vectors fetch the next group.
  const std::int64_t calls = (v.tiles + kRows - 1) / kRows, lines = 3 * kLanes * kLanes / 16;
  s.ahead_lines = (lines + calls - 1) / calls;
  for (std::int64_t p = first; p < last; ++p) {
    const float* a = v.data + p * v.point_stride;
    const float* b = u + p * point_stride(m.channels * v.channels);
    float* c = m.data + p * m.point_stride;
    if (doubled && (p / 6 == 2 || p % 6 == 2)) {
      std::fill_n(c, m.channels * m.tiles, 0.0f);
      continue;
    }
    for (std::int64_t block = 0; block < blocks;) {
      const std::int64_t group = vector_group(blocks - block);
      const float* bk = b + block * s.b_vector;
      float* ck = c + block * s.c_vector;
      s.ahead = bk + group * s.b_vector;
      multiply_rows<false, false>(s, v.tiles, group, a, bk, ck);
      block += group;
    }
  }
}

void multiply_gradient(const Panel& m, const Panel& v, std::int64_t p, std::int64_t block, bool accumulate, float* du) {
  const std::int64_t blocks = v.channels / kLanes;
  const Product s{.outer = 1, .inner = v.tiles, .a_outer = 0, .a_block = 0, .b_vector = v.tiles * kLanes,
                  .c_row = v.channels, .c_vector = kLanes};
  const float* a = m.data + p * m.point_stride + block * m.tiles * kLanes;
  const float* b = v.data + p * v.point_stride;
  float* c = du + p * point_stride(m.channels * v.channels) + block * kLanes * v.channels;
  for (std::int64_t cb = 0; cb < blocks;) {
    const std::int64_t group = vector_group(blocks - cb);
    if (accumulate) multiply_rows<true, true>(s, kLanes, group, a, b + cb * s.b_vector, c + cb * kLanes);
    else multiply_rows<true, false>(s, kLanes, group, a, b + cb * s.b_vector, c + cb * kLanes);
    cb += group;
  }
}

void add_tiles(const Panel& m, std::int64_t p, std::int64_t first, std::int64_t last, std::int64_t block,
               std::int64_t count, float* sums) {
  const D tag;
  const float* from = m.data + p * m.point_stride + block * m.tiles * kLanes;
  V sum = hn::Zero(tag);
  for (std::int64_t t = first; t < last; ++t) sum = hn::Add(sum, hn::Load(tag, from + t * kLanes));
  HWY_ALIGN float buffer[kLanes];
  hn::Store(sum, tag, buffer);
  for (std::int64_t i = 0; i < count; ++i) sums[i] += buffer[i];
}

}  // namespace spnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
