#pragma once

#include <spnn/core/shape.h>

namespace spnn {

// Where each pixel of a degraded picture comes from, the same for all pictures: pixel p of v shows what x had at p + d(p). Coordinates
// run from −1 to 1 between the middles of the outer pixels. [C, 2, H, W], the shift to the right first; in double.
//
// Fitted to pairs x and v = D(x), [B, C, H, W]: a smooth field (values on a grid of 9×9 points, bicubic between them), first one for the
// mean of the channels, on blurred pictures and then on sharper ones, then one per channel. A pixel of v may have any gain and offset over
// what it shows, so that vignetting and tone do not pass for a shift. No randomness.
Tensor fit_displacement(const Tensor& x, const Tensor& v);

// The same warp as matrices that act along lines, by linear interpolation: rows first, then columns.
struct WarpMatrices {
  Tensor rows;      // [C, H, W, W]: row i of x to the columns of v, for what is going to stand in row i before the second pass
  Tensor columns;   // [C, W, H, H]
};
WarpMatrices warp_matrices(const Tensor& displacement);

}  // namespace spnn
