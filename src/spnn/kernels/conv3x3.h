#pragma once

#include <torch/types.h>

namespace spnn {

using torch::Tensor;

// torch::conv2d(x, weight, bias, stride 1, padding 1) for a 3×3 weight, differentiable. Contiguous float32 on the CPU
// goes through Winograd's F(4×4, 3×3) (kernels/winograd.h; relative error about 1e-6), in the forward pass and in all
// gradients; everything else, and maps too small to gain, through torch. The choice depends on the shape of one image
// only: image i of the result does not depend on the batch.
//
// Without gradients the transformed weight is kept as long as the weight lives and its version does not change. Writing
// through `weight.data()` does not change the version: write under a NoGradGuard instead.
Tensor conv3x3(const Tensor& x, const Tensor& weight, const Tensor& bias);

// As long as one lives, conv3x3 on this thread uses torch's direct convolution: for comparisons.
class ScopedExactConvolution {
 public:
  explicit ScopedExactConvolution(bool exact = true);
  ~ScopedExactConvolution();
  ScopedExactConvolution(const ScopedExactConvolution&) = delete;
  ScopedExactConvolution& operator=(const ScopedExactConvolution&) = delete;

 private:
  bool before_;
};

}  // namespace spnn
