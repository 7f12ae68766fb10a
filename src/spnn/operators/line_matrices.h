#pragma once

#include <torch/types.h>

#include <cstdint>

namespace spnn {

using torch::Tensor;

// What separable operators do to one line of n pixels, as matrices in double. Beyond its ends a line is continued by
// reflection (the last pixel comes twice), as photos are better continued than by zeros or by their other end. Every
// row sums to 1.
Tensor pooling_line(std::int64_t n, std::int64_t factor);             // means of `factor` pixels: [n/factor, n]
Tensor bicubic_line(std::int64_t n, std::int64_t factor);             // cubic (a = −½) widened by the factor: [n/factor, n]
Tensor gaussian_line(std::int64_t n, double sigma);                   // cut off at 3σ: [n, n]
Tensor uniform_line(std::int64_t n, std::int64_t size);               // the mean of `size` (odd) pixels: [n, n]

}  // namespace spnn
