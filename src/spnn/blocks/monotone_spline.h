#pragma once

#include <torch/types.h>

namespace spnn {

using torch::Tensor;

// A rising rational-quadratic spline (Gregory and Delbourgo 1982; as a flow: Durkan et al. 2019) through K+1 knots, with both
// directions in closed form. Beyond its ends it goes on straight. Knots are [..., K+1] and values [..., N], with the same first
// dimensions: [C, K+1] for one curve per channel, [B, C, H, W, K+1] with N = 1 for one per entry.
//   requires  x and y rising along the last dimension, slopes above 0.
struct MonotoneSpline {
  Tensor x, y, slope;

  struct Value {
    Tensor at, log_slope;
  };
  Value forward(const Tensor& values) const;
  Tensor inverse(const Tensor& values) const;
};

// Slopes at the knots from the slopes of the K pieces: their harmonic means, which keep every piece free of bumps; at the ends
// the pieces' own.
Tensor slopes_at_knots(const Tensor& pieces);

}  // namespace spnn
