// The two products of the Winograd domain, on the panels of winograd_simd.h. Included once per instruction set.
#if defined(SPNN_WINOGRAD_GEMM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SPNN_WINOGRAD_GEMM_INL_H
#undef SPNN_WINOGRAD_GEMM_INL_H
#else
#define SPNN_WINOGRAD_GEMM_INL_H
#endif

#include <hwy/highway.h>
#include <spnn/kernels/winograd_transforms-inl.h>

HWY_BEFORE_NAMESPACE();
namespace spnn::kernels::HWY_NAMESPACE {

// Rows of a micro-kernel: with three vectors a row, 24 accumulators of 32 registers or 12 of 16. A divisor of kLanes,
// so that the rows of the weight gradient (output channels) stay in one block of a panel.
constexpr int kRows = kLanes >= 16 ? 8 : 4;

// c[m][v] (+)= Σ a[m][i] · b[i][v]. The rows of A are lanes apart and i runs along a block (forward, i = channel) or
// the other way round (Transposed: weight gradient, i = tile); `outer` blocks of A follow each other `a_outer` apart.
// Every sum runs over i in the same order whatever the number of rows, so a tile's result does not depend on its
// neighbours.
struct Product {
  std::int64_t outer, inner, a_outer;
  std::int64_t b_vector;             // from one vector of a row of B to the next
  std::int64_t c_row, c_vector;
  bool accumulate;
};

template <int Rows, int Vectors, bool Transposed>
HWY_NOINLINE void micro_kernel(const Product& s, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                               float* HWY_RESTRICT c) {
  const D tag;
  constexpr std::int64_t row = Transposed ? 1 : kLanes, step = Transposed ? kLanes : 1;
  V acc[Rows][Vectors];
  for (int m = 0; m < Rows; ++m)
    for (int v = 0; v < Vectors; ++v)
      acc[m][v] = s.accumulate ? hn::Load(tag, c + m * s.c_row + v * s.c_vector) : hn::Zero(tag);
  const float* b0 = b;
  for (std::int64_t o = 0; o < s.outer; ++o) {
    const float* pa = a + o * s.a_outer;
    for (std::int64_t i = 0; i < s.inner; ++i, pa += step, b0 += kLanes) {
      V bv[Vectors];
      for (int v = 0; v < Vectors; ++v) bv[v] = hn::Load(tag, b0 + v * s.b_vector);
      for (int m = 0; m < Rows; ++m) {
        const V am = hn::Set(tag, pa[m * row]);
        for (int v = 0; v < Vectors; ++v) acc[m][v] = hn::MulAdd(am, bv[v], acc[m][v]);
      }
    }
  }
  for (int m = 0; m < Rows; ++m)
    for (int v = 0; v < Vectors; ++v) hn::Store(acc[m][v], tag, c + m * s.c_row + v * s.c_vector);
}

template <int Vectors>
HWY_INLINE void forward_rows(const Product& s, std::int64_t rows, const float* a, const float* b, float* c) {
  std::int64_t m = 0;
  for (; m + kRows <= rows; m += kRows) micro_kernel<kRows, Vectors, false>(s, a + m * kLanes, b, c + m * kLanes);
  if (kRows == 8 && rows - m >= 4) {
    micro_kernel<4, Vectors, false>(s, a + m * kLanes, b, c + m * kLanes);
    m += 4;
  }
  if (rows - m >= 2) {
    micro_kernel<2, Vectors, false>(s, a + m * kLanes, b, c + m * kLanes);
    m += 2;
  }
  if (rows - m >= 1) micro_kernel<1, Vectors, false>(s, a + m * kLanes, b, c + m * kLanes);
}

// Splits `n` vectors into groups of three, with pairs where one would be left over.
HWY_INLINE std::int64_t vector_group(std::int64_t n) { return n >= 3 && n != 4 ? 3 : n == 1 ? 1 : 2; }

void multiply(const Panel& v, const float* u, const Panel& m, std::int64_t first, std::int64_t last) {
  const std::int64_t blocks = m.channels / kLanes;
  const Product s{.outer = v.channels / kLanes, .inner = kLanes, .a_outer = v.tiles * kLanes,
                  .b_vector = v.channels * kLanes, .c_row = kLanes, .c_vector = m.tiles * kLanes, .accumulate = false};
  for (std::int64_t p = first; p < last; ++p) {
    const float* a = v.data + p * v.point_stride;
    const float* b = u + p * point_stride(m.channels * v.channels);
    float* c = m.data + p * m.point_stride;
    for (std::int64_t block = 0; block < blocks;) {
      const std::int64_t group = vector_group(blocks - block);
      const float* bk = b + block * s.b_vector;
      float* ck = c + block * s.c_vector;
      if (group == 3) forward_rows<3>(s, v.tiles, a, bk, ck);
      else if (group == 2) forward_rows<2>(s, v.tiles, a, bk, ck);
      else forward_rows<1>(s, v.tiles, a, bk, ck);
      block += group;
    }
  }
}

void multiply_gradient(const Panel& m, const Panel& v, std::int64_t p, std::int64_t block, bool accumulate, float* du) {
  const std::int64_t blocks = v.channels / kLanes;
  const Product s{.outer = 1, .inner = v.tiles, .a_outer = 0, .b_vector = v.tiles * kLanes,
                  .c_row = v.channels, .c_vector = kLanes, .accumulate = accumulate};
  const float* a = m.data + p * m.point_stride + block * m.tiles * kLanes;
  const float* b = v.data + p * v.point_stride;
  float* c = du + p * point_stride(m.channels * v.channels) + block * kLanes * v.channels;
  for (std::int64_t cb = 0; cb < blocks;) {
    const std::int64_t group = vector_group(blocks - cb);
    const float* bc = b + cb * s.b_vector;
    for (std::int64_t k = 0; k < kLanes; k += kRows) {
      float* ck = c + k * s.c_row + cb * kLanes;
      if (group == 3) micro_kernel<kRows, 3, true>(s, a + k, bc, ck);
      else if (group == 2) micro_kernel<kRows, 2, true>(s, a + k, bc, ck);
      else micro_kernel<kRows, 1, true>(s, a + k, bc, ck);
    }
    cb += group;
  }
}

}  // namespace spnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
