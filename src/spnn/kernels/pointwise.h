#pragma once

#include <spnn/kernels/pointwise_simd.h>

#include <cstdint>

namespace spnn::kernels {

// 1×1 convolution of planes x [n, c, pixels] → y [n, k, pixels]: a product a few pixels wide at a time, without the
// change of layout that libraries do around it. Image i of y depends on image i of x only, bit for bit, and no result
// depends on the number of threads.

// The floats of a packed weight [k, c].
std::int64_t pointwise_weight_floats(std::int64_t k, std::int64_t c);

void pointwise_convolution(const PointwiseJob& job);

// 3×3 convolution with stride 2 of planes `map` padded by a row below and a column to the right; see halved_vectors.
void halved_convolution(const PointwiseJob& job, const Planes& map);

// dw [k, c] ← Σ dy ⊗ x; db [k] ← Σ dy (may be null).
void pointwise_weight_gradient(const PointwiseShape& shape, const float* x, const float* dy, float* dw, float* db);

}  // namespace spnn::kernels
