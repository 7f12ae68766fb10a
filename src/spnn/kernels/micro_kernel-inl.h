// The product of two packed panels that every kernel here ends in. Included once per instruction set.
#if defined(SPNN_MICRO_KERNEL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SPNN_MICRO_KERNEL_INL_H
#undef SPNN_MICRO_KERNEL_INL_H
#else
#define SPNN_MICRO_KERNEL_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>
#include <spnn/kernels/vectors-inl.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace spnn::kernels::HWY_NAMESPACE {

// Rows of a micro-kernel: with three vectors a row, 24 accumulators of 32 registers or 12 of 16. A divisor of kLanes,
// so that the rows of the weight gradient (output channels) stay in one block of a panel.
constexpr int kRows = kLanes >= 16 ? 8 : 4;

// c[m][v] (+)= Σ a[m][i] · b[i][v]. Either the rows m of A are a vector apart and i runs along the vector (i = channel
// of a Winograd panel), or, Transposed, the rows lie side by side in vectors and i steps over vectors (i = tile or pixel
// of a gradient, i = input channel of a packed weight). Every sum runs over i in the same order whatever the number of
// rows and vectors, so a result does not depend on what is computed beside it.
struct Product {
  std::int64_t outer, inner, a_outer;   // i runs over `outer` ≥ 1 blocks of `inner` ≥ 1 of A, `a_outer` apart
  std::int64_t a_block;                 // Transposed: from kLanes rows of A to the next
  std::int64_t b_vector;                // from one vector of a row of B to the next
  std::int64_t c_row, c_vector;
  const float* ahead = nullptr;         // what will be multiplied next, and the cache lines of it to fetch in each block
  std::int64_t ahead_lines = 0;
};

// `Accumulate` is a parameter of the template, and the loops run at least once: a choice at run time at either end makes
// the compiler keep `acc` in memory there.
template <int Rows, int Vectors, bool Transposed, bool Accumulate>
HWY_NOINLINE void micro_kernel(const Product& s, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                               float* HWY_RESTRICT c) {
  const D tag;
  constexpr std::int64_t row = Transposed ? 1 : kLanes, step = Transposed ? kLanes : 1;
  V acc[Rows][Vectors];
  for (int m = 0; m < Rows; ++m)
    for (int v = 0; v < Vectors; ++v)
      if constexpr (Accumulate) acc[m][v] = hn::LoadU(tag, c + m * s.c_row + v * s.c_vector);
      else acc[m][v] = hn::Zero(tag);
  const float* ahead = s.ahead;
  std::int64_t o = 0;
  do {
    for (std::int64_t line = 0; line < s.ahead_lines; ++line, ahead += 16) hwy::Prefetch(ahead);
    const float* pa = a + o * s.a_outer;
    std::int64_t i = 0;
    do {
      V bv[Vectors];
      for (int v = 0; v < Vectors; ++v) bv[v] = hn::Load(tag, b + v * s.b_vector);
      for (int m = 0; m < Rows; ++m) {
        const V am = hn::Set(tag, pa[m * row]);
        for (int v = 0; v < Vectors; ++v) acc[m][v] = hn::MulAdd(am, bv[v], acc[m][v]);
      }
      pa += step;
      b += kLanes;
    } while (++i < s.inner);
  } while (++o < s.outer);
  for (int m = 0; m < Rows; ++m)
    for (int v = 0; v < Vectors; ++v) hn::StoreU(acc[m][v], tag, c + m * s.c_row + v * s.c_vector);
}

template <int Rows, int Vectors, bool Transposed, bool Accumulate>
HWY_INLINE void multiply_some(Product& s, std::int64_t& m, const float* a, const float* b, float* c) {
  a += Transposed ? m / kLanes * s.a_block + m % kLanes : m * kLanes;
  micro_kernel<Rows, Vectors, Transposed, Accumulate>(s, a, b, c + m * s.c_row);
  m += Rows;
  s.ahead += s.outer * s.ahead_lines * 16;
}

template <int Vectors, bool Transposed, bool Accumulate>
HWY_INLINE void multiply_rows(Product s, std::int64_t rows, const float* a, const float* b, float* c) {
  std::int64_t m = 0;
  while (m + kRows <= rows) multiply_some<kRows, Vectors, Transposed, Accumulate>(s, m, a, b, c);
  if (kRows == 8 && rows - m >= 4) multiply_some<4, Vectors, Transposed, Accumulate>(s, m, a, b, c);
  if (rows - m >= 2) multiply_some<2, Vectors, Transposed, Accumulate>(s, m, a, b, c);
  if (rows - m >= 1) multiply_some<1, Vectors, Transposed, Accumulate>(s, m, a, b, c);
}

// All rows times one to three vectors.
template <bool Transposed, bool Accumulate>
HWY_INLINE void multiply_rows(const Product& s, std::int64_t rows, std::int64_t vectors, const float* a, const float* b,
                              float* c) {
  if (vectors == 3) multiply_rows<3, Transposed, Accumulate>(s, rows, a, b, c);
  else if (vectors == 2) multiply_rows<2, Transposed, Accumulate>(s, rows, a, b, c);
  else multiply_rows<1, Transposed, Accumulate>(s, rows, a, b, c);
}

// Splits `n` vectors into groups of three, with pairs where one would be left over.
HWY_INLINE std::int64_t vector_group(std::int64_t n) { return n >= 3 && n != 4 ? 3 : n == 1 ? 1 : 2; }

}  // namespace spnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
