#pragma once

#include <spnn/kernels/winograd.h>

#include <cstdint>

namespace spnn::kernels {

// Convolution of contiguous float planes with products of bfloat16 and sums in float, by the tile registers of CPUs with AMX: five
// to eight times the multiplications a second of float vectors. Relative error about 3e-3: for training, where the gradient's noise is
// far above it. 3×3 with zero padding 1 (`taps` 9) or 1×1 (`taps` 1), stride 1.
//
// Planes become flat rows of bfloat16 with one column of zeros after each row and one row of zeros before each image, so that a tap is
// a shift of the whole row: no gathering.

// Whether this CPU and the operating system let this process use them. Asks once.
bool bfloat_tiles_available();

// The floats of a packed weight [k, c, taps].
std::int64_t bfloat_weight_floats(std::int64_t k, std::int64_t c, std::int64_t taps);

// packed ← weight [k, c, taps]; `adjoint`: of the input gradient, which is the convolution k → c of dy.
void pack_bfloat_weight(const float* weight, std::int64_t k, std::int64_t c, std::int64_t taps, bool adjoint, float* packed);

struct BfloatConvolution {
  ConvolutionShape shape;
  std::int64_t taps;
  const float* x;
  const float* packed;
  const float* bias;          // [k], or [n, k] where bias_stride is k; or none
  std::int64_t bias_stride;
  const float* residual;      // like y, or none
  float* y;
};
void bfloat_convolution(const BfloatConvolution& conv);

// dw [k, c, taps] ← Σ over images and pixels of dy ⊗ x; db [n, k] ← Σ over pixels of dy.
void bfloat_weight_gradient(const ConvolutionShape& shape, std::int64_t taps, const float* x, const float* dy, float* dw, float* db);

}  // namespace spnn::kernels
