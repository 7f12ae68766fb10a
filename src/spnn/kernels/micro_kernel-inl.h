// The product of two packed panels that every kernel here ends in. Included once per instruction set.
#if defined(SPNN_MICRO_KERNEL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SPNN_MICRO_KERNEL_INL_H
#undef SPNN_MICRO_KERNEL_INL_H
#else
#define SPNN_MICRO_KERNEL_INL_H
#endif

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
  std::int64_t outer, inner, a_outer;   // i runs over `outer` blocks of A, `a_outer` apart
  std::int64_t a_block;                 // Transposed: from kLanes rows of A to the next
  std::int64_t b_vector;                // from one vector of a row of B to the next
  std::int64_t c_row, c_vector;
};

// `Accumulate` is a parameter of the template: as a choice at run time it makes the compiler keep `acc` in memory at both
// ends of the loop.
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
    for (int v = 0; v < Vectors; ++v) hn::StoreU(acc[m][v], tag, c + m * s.c_row + v * s.c_vector);
}

template <int Vectors, bool Transposed, bool Accumulate>
HWY_INLINE void multiply_rows(const Product& s, std::int64_t rows, const float* a, const float* b, float* c) {
  std::int64_t m = 0;
  const auto at = [&] { return Transposed ? a + m / kLanes * s.a_block + m % kLanes : a + m * kLanes; };
  for (; m + kRows <= rows; m += kRows) micro_kernel<kRows, Vectors, Transposed, Accumulate>(s, at(), b, c + m * s.c_row);
  if (kRows == 8 && rows - m >= 4) {
    micro_kernel<4, Vectors, Transposed, Accumulate>(s, at(), b, c + m * s.c_row);
    m += 4;
  }
  if (rows - m >= 2) {
    micro_kernel<2, Vectors, Transposed, Accumulate>(s, at(), b, c + m * s.c_row);
    m += 2;
  }
  if (rows - m >= 1) micro_kernel<1, Vectors, Transposed, Accumulate>(s, at(), b, c + m * s.c_row);
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
