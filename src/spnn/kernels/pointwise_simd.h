#pragma once

#include <spnn/kernels/winograd_simd.h>

#include <cstdint>

namespace spnn::kernels {

// The vector code of pointwise.cpp. A packed weight is [rows / L][columns][L], L the vector length, rows padded by zeros.
struct PointwiseShape {
  std::int64_t n, c, k, pixels;   // x [n, c, pixels] → y [n, k, pixels]
};

// Packs [k, c] with rows k, or, `transposed`, with rows c.
void pack_pointwise(const float* weight, std::int64_t k, std::int64_t c, bool transposed, float* packed);

// Planes [n, c, pixels]. A convolution may read its channels from two of them, the second after the first.
struct Channels {
  const float* x = nullptr;
  std::int64_t c = 0;
};

struct PointwiseJob {
  PointwiseShape shape;
  Channels parts[2];       // shape.c channels together
  const float* packed;
  const float* bias;       // may be null
  const float* residual;   // like y, may be null
  float* y;
};

// y of `count` ≤ 3 vectors of pixels from `pixel` of image `image` on. With pixels == L the vectors may run over
// images, and with count == 1 the vector may be incomplete. `panel` has room for 3·L·c floats.
void pointwise_vectors(const PointwiseJob& job, std::int64_t image, std::int64_t pixel, std::int64_t count, float* panel);

// The same for a 3×3 convolution with stride 2, and zeros beyond the right and lower border, of parts[0] = planes `map`:
// a product with the nine taps of every channel, job.shape.c = 9 · map.c, and vectors within one image.
void halved_vectors(const PointwiseJob& job, const Planes& map, std::int64_t image, std::int64_t pixel, std::int64_t count,
                    float* panel);

// One block of channels of images [first, last) as a panel of one point, a tile a pixel.
void pack_pixels(const float* x, std::int64_t c, std::int64_t pixels, std::int64_t first, std::int64_t last,
                 std::int64_t block, const Panel& panel);

}  // namespace spnn::kernels
