#pragma once

#include <spnn/core/rng.h>

namespace spnn {

// Of uint8 images [N, C, H, W]:

// The mean over images of the energy of their luma at frequencies above half the band (|f| > ¼ cycle a pixel, across or down), pixels
// in [0, 1]: the part of the variance that an image of half the size could not have. Borders are faded out.
double energy_above_half_band(const Tensor& images);

// `count` crops of size×size from random places of each image, a function of (rng, number of the image): [N·count, C, size, size].
Tensor random_crops(const Tensor& images, std::int64_t size, std::int64_t count, const Rng& rng);

// For every image the distance to the nearest of `others`: root mean square over pixels in [0, 1], both pooled to 16×16, [N]. Samples
// that are nearer to training images than unseen images are were memorised.
Tensor nearest_distances(const Tensor& images, const Tensor& others);

}  // namespace spnn
