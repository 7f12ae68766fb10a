#pragma once

#include <spnn/diffusion/sampler.h>
#include <spnn/projection/back_projector.h>
#include <spnn/restoration/target.h>

namespace spnn {

struct SpinConfig {
  int rounds = 4;        // at most
  double least = 0.5;    // an image is done when every output that was asked for is on its side, by this part of what was asked
  bool graded = false;   // what was asked for is a number, not a side: done when every probability is within `near` of it
  double near = 0.05;
  bool views = true;     // false: of the image itself alone, for steps of a chain whose prior takes grain away
};

struct SpunMove {
  Tensor x;   // in [−1, 1]
  Tensor y;   // what g is to say of it: what it says where the wish is met, and what was asked for where not
};

// A photo moved to where g says what `aim` asks for, through shifts of a pixel or two and the mirror image. A face moved aside has the same
// attributes, so each view T gives a back-projection onto {x : g(T x) = aim(g(T x))}; the mean of these moves, taken back to the photo's place, is a
// step towards all of the sets at once (Cimmino's method of projections; in denoising, cycle spinning). What every view agrees on is the
// edit; grain and the grid of the first level's cells differ from view to view and average out. Outputs that nobody asked about may follow what
// they belong to, as in photos: they are not held at the photo's values, as one back-projection holds them.
//   ensures: where rounds were too few, the last step is one exact back-projection, which brings grain with it. Row i depends on row i.
SpunMove spun_move(const BackProjector& g, const Tensor& photo, const Target& aim, const SpinConfig& config);

// One such step of x̂0 at every time, for the images whose x̂0 does not meet the wish: in a place of a photo that is drawn again.
Correction spun_correction(const BackProjector& g, Target aim, const SpinConfig& config);

}  // namespace spnn
