#pragma once

#include <torch/types.h>

#include <cstdint>

namespace spnn {

using torch::Tensor;

// What of x is the same in every cell of side×side pixels, less its mean colour: a grid over the whole image. An orthogonal projection;
// x [B, C, H, W], its sides multiples of `side`.
Tensor cell_pattern(const Tensor& x, std::int64_t side);

// ε of a network that sees an image as cells of side×side pixels, with its pattern by Wiener's filter. The constant of a map is what group
// norms take out of it, so that such a network does not see how much of a grid over the whole image is noise, and leaves it there: seen as a
// fine grid on flat areas. Photos have next to none, which says how much of it is noise.
Tensor with_pattern_known(const Tensor& eps, const Tensor& x_t, double alpha_bar, std::int64_t side);

}  // namespace spnn
