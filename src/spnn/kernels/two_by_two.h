#pragma once

#include <torch/types.h>

namespace spnn {

using torch::Tensor;

// A 3×3 convolution with padding 1 of 2×2 maps, where every output sees every input: a dense map of 4·C to 4·K, 16 products
// for each pair of channels where Winograd's tile, three quarters of it padding, takes 36, and a weight a quarter of its size.
Tensor conv3x3_of_2x2(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace spnn
