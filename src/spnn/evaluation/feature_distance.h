#pragma once

#include <spnn/networks/identity.h>

namespace spnn {

// How far images are from their originals for a network that was trained on faces, in the manner of LPIPS (Zhang et al. 2018, without its
// learned weights): the squared difference of feature maps whose channels are made a unit vector at every place, the mean over places and
// over the outputs of all residual blocks. 0 for equal images, 2 where features have nothing in common, 4 at most.
// [N], of uint8 images [N, C, H, W].
Tensor feature_distance(const Identity& net, const Tensor& images, const Tensor& originals);

}  // namespace spnn
