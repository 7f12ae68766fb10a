#pragma once

#include <spnn/diffusion/sampler.h>
#include <spnn/projection/back_projector.h>
#include <spnn/restoration/target.h>

namespace spnn {

// NLBP(x, y') with λ = 1, in [−1, 1]: what an edit does to a photo in one pass.
Tensor moved_at_once(const BackProjector& g, const Tensor& photo, const Target& target);

// Of 5×5 pixels, the border repeated.
Tensor mean_of_neighbours(const Tensor& x);

// Where x' differs from x, softly, [B, 1, H, W] in [0, 1]: the mean difference of a neighbourhood over keep × that of the most changed
// places of the image. keep 0 is 1 everywhere; with keep 1 only what changed most is free.
Tensor changed_places(const Tensor& x, const Tensor& moved, double keep);

// Outside of the mask x̂0 is the photo, both as `correction` sees it and after.
Correction holding(Correction correction, Tensor photo, Tensor mask);

}  // namespace spnn
