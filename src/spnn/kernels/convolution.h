#pragma once

#include <torch/types.h>

namespace spnn {

using torch::Tensor;

// torch::conv2d(x, weight, bias, stride 1, padding 1) + residual for a 3×3 weight, differentiable. `bias` is [k], or
// [n, k] with a bias for each image; `residual`, if given, is like the result. Float32 on the CPU goes through Winograd's
// F(4×4, 3×3) (kernels/winograd.h; relative error about 1e-6), in the forward pass and in all gradients; everything else,
// and maps of one row or column, through torch. The choice depends on the shape of one image only: image i of the result
// does not depend on the batch. ScopedExactKernels (kernels/exact.h) forces torch's.
//
// Without gradients the transformed weight is kept as long as the weight lives and its version does not change. Writing
// through `weight.data()` does not change the version: write under a NoGradGuard instead.
Tensor conv3x3(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& residual = {});

// The same for a 1×1 weight, stride 1, no padding and a bias [k].
Tensor conv1x1(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& residual = {});

// conv3x3(torch::upsample_nearest2d(x) to twice the size, weight, bias). Without gradients the enlarged map is not written
// and 11 of 36 multiplications are left out.
Tensor conv3x3_doubled(const Tensor& x, const Tensor& weight, const Tensor& bias);

// torch::conv2d(x padded by a row of zeros below and a column to the right, weight [k, c, 3, 3], bias, stride 2).
Tensor conv3x3_halved(const Tensor& x, const Tensor& weight, const Tensor& bias);

// conv1x1(torch::cat({x, more}, 1), weight, bias). Without gradients nothing is concatenated.
Tensor conv1x1_joined(const Tensor& x, const Tensor& more, const Tensor& weight, const Tensor& bias);

}  // namespace spnn
