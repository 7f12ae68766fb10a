#pragma once

#include <spnn/data/dataset.h>

namespace spnn {

// Where in a picture attributes live, [A, h, w], from images with labels [N, A]; a cell has 2×2 pixels, or so many that 32 lie side by side. What a
// cell shows (its colours, how rough it is, how it differs from what is around it) is regressed on all attributes at once: entry (a, i, j) says how
// far attribute a alone moves it, in standard deviations of what attributes leave unexplained there. So a moustache is on the lip, though men also
// have other hair than women.
//   requires: square images of even sides, one label or more each
Tensor attribute_places(const Dataset& train);

}  // namespace spnn
