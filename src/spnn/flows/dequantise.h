#pragma once

#include <spnn/core/shape.h>

namespace spnn {

// Discrete data under a continuous density: v of 2^bits grey levels becomes x = (v + u)/2^bits − ½ with u uniform in [0, 1).
// log P(v) ≥ E_u log p(x) − D·bits·log 2.
Tensor dequantise(const Tensor& bytes, std::int64_t bits, const Tensor& u);   // uint8, the low bits are dropped
Tensor quantised_bytes(const Tensor& x, std::int64_t bits);                   // back, spread over 0…255 for the eye

// Bits per dimension of images with this log p(x), [B].
Tensor bits_per_dim(const Tensor& log_p, std::int64_t dimensions, std::int64_t bits);

}  // namespace spnn
