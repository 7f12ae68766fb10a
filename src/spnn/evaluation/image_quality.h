#pragma once

#include <torch/types.h>

namespace spnn {

using torch::Tensor;

// Per image [N], of uint8 images [N, C, H, W] against their originals.

// 10 log10(255² / mean (a − b)²); +∞ for equal images.
Tensor psnr(const Tensor& images, const Tensor& originals);

// Wang et al. 2004: an 11×11 Gaussian window of σ = 1.5 inside the image, K1 = 0.01, K2 = 0.03, the mean over pixels and
// channels. requires: at least 11 × 11 pixels.
Tensor ssim(const Tensor& images, const Tensor& originals);

}  // namespace spnn
