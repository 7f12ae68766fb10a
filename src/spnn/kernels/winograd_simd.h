#pragma once

#include <cstdint>

namespace spnn::kernels {

// Floats from one of the 36 points to the next when each has `floats` of them. An odd number of cache lines: 36 stores
// a power of two apart would all fall into one cache set.
inline std::int64_t point_stride(std::int64_t floats) { return ((floats + 15) / 16 | 1) * 16; }

// The vector code of winograd.cpp, compiled once per instruction set and chosen when the program runs.
//
// A panel holds one value per Winograd point, tile and channel as [36][channels / L][tiles][L], L the vector length.
// With the channel block outside and the tile next to it, the rows that a micro-kernel touches are neighbouring cache
// lines whatever the channel count, and the forward product (sum over channels) and the weight gradient (sum over
// tiles) read the same layout.
struct Panel {
  float* data;
  std::int64_t channels;       // padded to a multiple of L
  std::int64_t tiles;
  std::int64_t point_stride;   // floats
};

// The planes of one tensor [n, c, h, w] and its tiling into 4×4 outputs. Tile row r is row r % tiles_y of image
// r / tiles_y.
struct Planes {
  std::int64_t c, h, w;
  std::int64_t tiles_y() const { return (h + 3) / 4; }
  std::int64_t tiles_x() const { return (w + 3) / 4; }
};

// What a convolution reads: planes of its own size or, `doubled`, of half of it, each pixel standing for 2×2.
struct Source {
  const float* x;
  bool doubled = false;
};

struct WeightShape {
  std::int64_t k, c;   // stored as [k, c, 3, 3]
  bool adjoint;        // transform the weight of the input gradient: channels exchanged, kernel rotated by 180°
};

std::int64_t lanes();

// U[36][K / L][C][L] with padded K and C, points point_stride(K·C) apart, for the blocks of output channels [first, last). Channels beyond the weight's give zeros.
void transform_weight(const float* weight, const WeightShape& shape, std::int64_t first, std::int64_t last, float* u);

// Bᵀ d B of tile rows [first, last) and one block of channels into V, whose first tile is that of row `origin`.
// `strip` has room for strip_floats(w).
std::int64_t strip_floats(std::int64_t w);
void transform_input(const Source& source, const Planes& planes, std::int64_t first, std::int64_t last,
                     std::int64_t origin, std::int64_t block, const Panel& v, float* strip);

// A dy Aᵀ likewise: the adjoint of the output transform.
void transform_output_gradient(const float* dy, const Planes& planes, std::int64_t first, std::int64_t last,
                               std::int64_t origin, std::int64_t block, const Panel& m);

// What is added to a convolution: a bias a channel, of all images (stride 0) or of each (stride k), and a tensor like y.
struct Addends {
  const float* bias = nullptr;
  std::int64_t bias_stride = 0;
  const float* residual = nullptr;
};

// Aᵀ m A + addends, for one block of channels.
void transform_output(const Panel& m, const Addends& addends, const Planes& planes, std::int64_t first,
                      std::int64_t last, std::int64_t origin, std::int64_t block, float* y, float* strip);

// m[p] = v[p] · u[p] for the points [first, last). Doubling is the factor 1 + z of a polynomial, which vanishes at the
// point −1: of a doubled map 11 of the 36 products are zero and left out.
void multiply(const Panel& v, const float* u, const Panel& m, std::int64_t first, std::int64_t last, bool doubled);

// du[p] (+)= m[p]ᵀ · v[p] for the block `block` of output channels of point p; du is [36][K][C] with
// padded K and C, points point_stride(K·C) apart.
void multiply_gradient(const Panel& m, const Panel& v, std::int64_t p, std::int64_t block, bool accumulate, float* du);

// sums[i] += Σ over the tiles [first, last) of point p, for the first `count` channels of block `block`.
void add_tiles(const Panel& m, std::int64_t p, std::int64_t first, std::int64_t last, std::int64_t block,
               std::int64_t count, float* sums);

// Gᵀ du G for output channel k.
void transform_weight_gradient(const float* du, const WeightShape& shape, std::int64_t k, float* dw);

}  // namespace spnn::kernels
