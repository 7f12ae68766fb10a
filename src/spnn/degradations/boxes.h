#pragma once

// The maps behind black_box.h, one function each, on pictures in [−1, 1], [B, C, H, W]. Internal to degradations/ and its tests.

#include <torch/types.h>

namespace spnn::boxes {

using torch::Tensor;

Tensor jpeg(const Tensor& x, int quality);                          // through bytes, in memory; 4:4:4
Tensor quantize(const Tensor& x, std::int64_t bits);                // the nearest of 2^bits evenly spaced greys
Tensor clip(const Tensor& x, double low, double high);              // in [0, 1] units: what lies outside is lost

// A lens. r = 1 at the middle of a side of the picture, r² = 2 in its corners.
struct Lens {
  double k = 0.15;        // the pixel at radius r shows what was at r(1 + k r²): barrel for k > 0, pincushion for k < 0
  double vignette = 0;    // of the light that is missing in the corners, growing with r²
  double chroma = 0;      // red is larger by it, blue smaller
  double blur = 0;        // σ in pixels of a Gaussian; the picture turns into the blurred one with r²/2
};
Tensor lens(const Tensor& x, const Lens& glass);

// A camera that moves along a line while light falls in, brightened by `gain`; a sensor's well is full at 1. No noise. Blurring light, not
// values, and the full well make it a non-linear blur.
struct Shake {
  double length = 9, angle = 0;   // pixels; degrees
  double gain = 1.3, gamma = 2.2; // light is w^gamma
};
Tensor shake(const Tensor& x, const Shake& hand);

// A camera: linear light, an RGGB mosaic, white balance of what it saw, bilinear demosaicking, tone curve, rounding. No noise.
struct Isp {
  double red = 1.2, blue = 1.4;   // gains of the white balance; green has 1
  double gamma = 2.2;             // light is w^gamma, and the tone curve its inverse
  std::int64_t bits = 6;
};
Tensor isp(const Tensor& x, const Isp& camera);

}  // namespace spnn::boxes
