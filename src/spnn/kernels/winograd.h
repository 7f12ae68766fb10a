#pragma once

#include <spnn/kernels/winograd_simd.h>

#include <cstdint>

namespace spnn::kernels {

// 3×3 convolution, stride 1, zero padding 1, of contiguous planes x [n, c, h, w] → y [n, k, h, w] by Winograd's
// F(4×4, 3×3): 36 multiplications for a tile of 16 outputs instead of 144. Relative error about 1e-6.
//
// Image i of y depends on image i of x only, bit for bit, and no result depends on the number of threads.
struct ConvolutionShape {
  std::int64_t n, c, h, w, k;
};

// The floats of a transformed weight, four times the weight.
std::int64_t winograd_weight_floats(std::int64_t k, std::int64_t c);

// u ← the transformed weight [k, c, 3, 3]; `adjoint`: of the input gradient, which is the convolution k → c of dy.
void winograd_weight(const float* weight, std::int64_t k, std::int64_t c, bool adjoint, float* u);

// y ← conv(x) + addends; `shape` is that of y also where x is doubled.
void winograd_convolution(const ConvolutionShape& shape, const Source& x, const float* u, const Addends& addends, float* y);

// dw ← Σ over images and pixels of dy ⊗ x: 36 products over tiles in the transformed domain, a quarter of the
// multiplications of the direct sum. db [n, k] ← Σ over pixels of dy, which costs nothing here.
void winograd_weight_gradient(const ConvolutionShape& shape, const float* x, const float* dy, float* dw, float* db);

}  // namespace spnn::kernels
