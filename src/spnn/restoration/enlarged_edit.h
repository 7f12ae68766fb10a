#pragma once

#include <spnn/diffusion/upscale.h>
#include <spnn/restoration/photo_edit.h>

namespace spnn {

// Where an edit drew photos again, as it was told (photo_edit.h).
struct DrawnPlace {
  Tensor place;          // [1 or B, 1, h, w]; undefined: all detail is carried along
  RedrawConfig redraw = {};
};

// Large photos whose small images were edited to `low`: their own detail, carried along (transport); where an edit drew what was not there, a pair of
// glasses, the second stage draws the detail too, and the photo's own goes on around it.
//   ensures: A x = low to rounding; low = A x where nothing was drawn gives x. Image i depends on row i only.
Tensor enlarged_edit(const std::shared_ptr<const Upscaler>& net, const Tensor& photos, const Tensor& low, const DrawnPlace& drawn,
                     const UpscaleConfig& config, const ImageSeeds& seeds, Observer& observer);

}  // namespace spnn
