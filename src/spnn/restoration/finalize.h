#pragma once

#include <spnn/projection/back_projector.h>
#include <spnn/restoration/target.h>

namespace spnn {

struct FinalizeConfig {
  int iterations = 24;        // at most
  double tolerance = 0.02;    // root mean square over the outputs that is good enough
};

// What will be saved, and how near it is to what was asked for.
struct Finalized {
  Tensor bytes;        // uint8 [B, C, H, W]
  Tensor y;            // g(bytes)
  Tensor target;       // what was aimed at
  Tensor before;       // [B] √mean (g(x) − y_target)² of the image as it was sampled
  Tensor after;        // [B] the same of the bytes
  Tensor iterations;   // [B] int64: projections that were made
};

// Strict projections alternating with the clamp to [−1, 1] and the rounding to 8 bits. What rounding took away is added
// to the next aim, so that the error does not stay where rounding puts it; the best iterate near the first is kept. Every image stops by itself.
Finalized finalize(const BackProjector& g, const Tensor& x, const Target& target, const FinalizeConfig& config = {});

// √mean (y − y_target)² of each image.
Tensor distance_to_target(const Tensor& y, const Target& target);

}  // namespace spnn
