#include <spnn/kernels/bfloat_convolution.h>

#if defined(__x86_64__)

#include <spnn/kernels/parallel.h>
#include <spnn/kernels/scratch.h>

// GCC 12 takes the undefined operand of its own masked intrinsics for an uninitialised variable.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#define SPNN_TILES __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))

namespace spnn::kernels {
namespace {

constexpr std::int64_t kTile = 16;    // rows of a tile, and floats in a row of a sum
constexpr std::int64_t kDepth = 32;   // bfloats in a row of a factor
constexpr std::int64_t kSlack = 64;   // positions that a shifted tile may read before and behind a group

std::int64_t round_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b * b; }

// Where the pixels of a group of images stand in a flat row.
struct Flat {
  std::int64_t h, w, row, image, images, positions, first;
  static Flat of(const ConvolutionShape& s, std::int64_t taps) {
    const std::int64_t row = taps == 1 ? s.w : s.w + 1, image = taps == 1 ? s.h * s.w : (s.h + 1) * row;
    const std::int64_t images = std::clamp<std::int64_t>(1024 / image, 1, s.n);
    const std::int64_t extra = taps == 1 ? 0 : row;   // the zeros below the last image
    return {s.h, s.w, row, image, images, round_up(images * image + extra, kDepth), taps == 1 ? 0 : row};
  }
  std::int64_t stride() const { return positions + 2 * kSlack; }
  std::int64_t at(std::int64_t n, std::int64_t y) const { return kSlack + n * image + first + y * row; }
  std::int64_t shift(std::int64_t tap, std::int64_t taps) const { return taps == 1 ? 0 : (tap / 3 - 1) * row + tap % 3 - 1; }
};

struct TileConfig {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
};

// Eight full tiles. The configuration belongs to the thread and costs a few cycles.
class ScopedTiles {
 public:
  SPNN_TILES ScopedTiles() {
    TileConfig config;
    for (int i = 0; i < 8; ++i) {
      config.bytes[i] = 64;
      config.rows[i] = kTile;
    }
    _tile_loadconfig(&config);
  }
  SPNN_TILES ~ScopedTiles() { _tile_release(); }
  ScopedTiles(const ScopedTiles&) = delete;
  ScopedTiles& operator=(const ScopedTiles&) = delete;
};

SPNN_TILES inline __mmask16 lanes_left(std::int64_t count) {
  return count >= kTile ? __mmask16(0xffff) : static_cast<__mmask16>((1u << count) - 1);
}

// row[p] ← bfloats of channels a (low half) and b (high half; may be null) of the group's images, zeros elsewhere.
SPNN_TILES void pack_channel_pair(const Flat& flat, const float* a, const float* b, std::int64_t images, std::int64_t image_stride,
                                  std::uint32_t* row) {
  std::memset(row, 0, static_cast<std::size_t>(flat.stride()) * sizeof(std::uint32_t));
  for (std::int64_t n = 0; n < images; ++n) {
    for (std::int64_t y = 0; y < flat.h; ++y) {
      std::uint32_t* to = row + flat.at(n, y);
      const float *from_a = a + n * image_stride + y * flat.w, *from_b = b ? b + n * image_stride + y * flat.w : nullptr;
      for (std::int64_t i = 0; i < flat.w; i += kTile) {
        const __mmask16 mask = lanes_left(flat.w - i);
        const __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, from_a + i)));
        __m512i word = low;
        if (from_b) {
          const __m512i high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, from_b + i)));
          word = _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
        }
        _mm512_mask_storeu_epi32(to + i, mask, word);
      }
    }
  }
}

// row[p] ← bfloats of one channel of the group's images, zeros elsewhere.
SPNN_TILES void pack_channel(const Flat& flat, const float* a, std::int64_t images, std::int64_t image_stride, std::uint16_t* row) {
  std::memset(row, 0, static_cast<std::size_t>(flat.stride()) * sizeof(std::uint16_t));
  if (a == nullptr) return;
  for (std::int64_t n = 0; n < images; ++n) {
    for (std::int64_t y = 0; y < flat.h; ++y) {
      std::uint16_t* to = row + flat.at(n, y);
      const float* from = a + n * image_stride + y * flat.w;
      for (std::int64_t i = 0; i < flat.w; i += kTile) {
        const __mmask16 mask = lanes_left(flat.w - i);
        _mm256_mask_storeu_epi16(to + i, mask, (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, from + i)));
      }
    }
  }
}

// to[j][i] ← from[i][j] for 16×16 words.
SPNN_TILES void transpose_words(const std::uint32_t* from, std::int64_t from_stride, std::uint32_t* to, std::int64_t to_stride) {
  const __m512i index = _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                                           _mm512_set1_epi32(static_cast<int>(to_stride)));
  for (std::int64_t i = 0; i < kTile; ++i) _mm512_i32scatter_epi32(to + i, index, _mm512_loadu_si512(from + i * from_stride), 4);
}

// Two by two tiles of sums over all taps and channels: rows k0 … k0+31 of the weight, positions p … p+31.
SPNN_TILES void multiply_block(const Flat& flat, std::int64_t taps, std::int64_t depth_blocks, const std::uint16_t* weight,
                               std::int64_t second_row, const std::uint32_t* x, std::int64_t p, float* out) {
  const std::int64_t stride = flat.stride() * 4;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const std::uint32_t* from = x + kSlack + p + flat.shift(tap, taps);
    for (std::int64_t d = 0; d < depth_blocks; ++d) {
      const std::uint16_t* w = weight + (tap * depth_blocks + d) * kTile * kDepth;
      const std::uint32_t* b = from + d * kTile * flat.stride();
      _tile_loadd(4, w, 64);
      _tile_loadd(6, b, stride);
      _tile_dpbf16ps(0, 4, 6);
      _tile_loadd(7, b + kTile, stride);
      _tile_dpbf16ps(1, 4, 7);
      if (second_row) {
        _tile_loadd(5, w + second_row, 64);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
    }
  }
  const std::int64_t out_stride = flat.positions * 4;
  _tile_stored(0, out + p, out_stride);
  _tile_stored(1, out + p + kTile, out_stride);
  if (second_row) {
    _tile_stored(2, out + kTile * flat.positions + p, out_stride);
    _tile_stored(3, out + kTile * flat.positions + p + kTile, out_stride);
  }
}

struct Epilogue {
  const BfloatConvolution& conv;
  std::int64_t first_image, images;
};

SPNN_TILES void write_channel(const Flat& flat, const Epilogue& e, std::int64_t k, const float* sums) {
  const auto& s = e.conv.shape;
  for (std::int64_t n = 0; n < e.images; ++n) {
    const std::int64_t image = e.first_image + n, plane = (image * s.k + k) * s.h * s.w;
    const __m512 bias = _mm512_set1_ps(e.conv.bias ? e.conv.bias[image * e.conv.bias_stride + k] : 0.f);
    for (std::int64_t y = 0; y < s.h; ++y) {
      const float* from = sums + flat.at(n, y) - kSlack;
      float* to = e.conv.y + plane + y * s.w;
      const float* residual = e.conv.residual ? e.conv.residual + plane + y * s.w : nullptr;
      for (std::int64_t i = 0; i < s.w; i += kTile) {
        const __mmask16 mask = lanes_left(s.w - i);
        __m512 value = _mm512_add_ps(_mm512_maskz_loadu_ps(mask, from + i), bias);
        if (residual) value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, residual + i));
        _mm512_mask_storeu_ps(to + i, mask, value);
      }
    }
  }
}

SPNN_TILES void convolve_group(const BfloatConvolution& conv, const Flat& flat, std::int64_t group) {
  const auto& s = conv.shape;
  const std::int64_t pixels = s.h * s.w, depth_blocks = round_up(s.c, kDepth) / kDepth, k_blocks = round_up(s.k, kTile) / kTile;
  const std::int64_t first = group * flat.images, images = std::min(flat.images, s.n - first);
  thread_local Scratch input, output;
  auto* x = reinterpret_cast<std::uint32_t*>(input.floats(depth_blocks * kTile * flat.stride()));
  float* out = output.floats(2 * kTile * flat.positions);
  for (std::int64_t pair = 0; pair < depth_blocks * kTile; ++pair) {
    const std::int64_t c = 2 * pair;
    std::uint32_t* row = x + pair * flat.stride();
    if (c >= s.c) {
      std::memset(row, 0, static_cast<std::size_t>(flat.stride()) * sizeof(std::uint32_t));
      continue;
    }
    const float* a = conv.x + (first * s.c + c) * pixels;
    pack_channel_pair(flat, a, c + 1 < s.c ? a + pixels : nullptr, images, s.c * pixels, row);
  }
  const ScopedTiles tiles;
  const auto* weight = reinterpret_cast<const std::uint16_t*>(conv.packed);
  const std::int64_t block = conv.taps * depth_blocks * kTile * kDepth;
  for (std::int64_t k = 0; k < k_blocks; k += 2) {
    const std::int64_t second = k + 1 < k_blocks ? block : 0;
    for (std::int64_t p = 0; p < flat.positions; p += 2 * kTile) {
      multiply_block(flat, conv.taps, depth_blocks, weight + k * block, second, x, p, out);
    }
    const Epilogue epilogue{conv, first, images};
    for (std::int64_t i = 0; i < 2 * kTile && k * kTile + i < s.k; ++i)
      write_channel(flat, epilogue, k * kTile + i, out + i * flat.positions);
  }
}

std::uint16_t to_bfloat(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40);   // not a number stays one
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// One position pair and one output channel in a word: [positions / 2][k], what the weight's gradient multiplies by.
SPNN_TILES void pack_position_pairs(const ConvolutionShape& s, const Flat& flat, const float* dy, std::int64_t group,
                                    std::uint32_t* out) {
  const std::int64_t pixels = s.h * s.w, first = group * flat.images, images = std::min(flat.images, s.n - first);
  const std::int64_t k_padded = round_up(s.k, kTile), pairs = flat.stride() / 2;
  thread_local Scratch rows;
  auto* row = reinterpret_cast<std::uint16_t*>(rows.floats(kTile * pairs));
  for (std::int64_t k = 0; k < k_padded; k += kTile) {
    for (std::int64_t i = 0; i < kTile; ++i) {
      const float* from = k + i < s.k ? dy + (first * s.k + k + i) * pixels : nullptr;
      pack_channel(flat, from, images, s.k * pixels, row + i * flat.stride());
    }
    const auto* words = reinterpret_cast<const std::uint32_t*>(row) + kSlack / 2;
    for (std::int64_t p = 0; p < flat.positions / 2; p += kTile) transpose_words(words + p, pairs, out + p * k_padded + k, k_padded);
  }
}

// sums[tap][c][k] += Σ over the group's positions of x[c][p + shift of tap] · dy[p][k], for 16 channels c.
SPNN_TILES void add_group_gradient(const Flat& flat, std::int64_t taps, const std::uint16_t* x, const std::uint32_t* dy,
                                   std::int64_t k_padded, float* sums) {
  const std::int64_t x_stride = flat.stride() * 2, dy_stride = k_padded * 4, sum_stride = k_padded * 4, tap_sums = kTile * k_padded;
  const std::int64_t taps_at_once = std::min<std::int64_t>(taps, 3);
  for (std::int64_t k = 0; k < k_padded; k += kTile) {
    for (std::int64_t tap = 0; tap < taps; tap += taps_at_once) {
      float* sum = sums + tap * tap_sums + k;
      const std::uint16_t* from = x + kSlack + flat.shift(tap, taps);
      const std::uint32_t* by = dy + k;
      if (taps == 1) {
        _tile_loadd(0, sum, sum_stride);
        for (std::int64_t p = 0; p < flat.positions; p += kDepth) {
          _tile_loadd(6, by + p / 2 * k_padded, dy_stride);
          _tile_loadd(3, from + p, x_stride);
          _tile_dpbf16ps(0, 3, 6);
        }
        _tile_stored(0, sum, sum_stride);
        continue;
      }
      _tile_loadd(0, sum, sum_stride);
      _tile_loadd(1, sum + tap_sums, sum_stride);
      _tile_loadd(2, sum + 2 * tap_sums, sum_stride);
      for (std::int64_t p = 0; p < flat.positions; p += kDepth) {
        _tile_loadd(6, by + p / 2 * k_padded, dy_stride);
        _tile_loadd(3, from + p, x_stride);
        _tile_dpbf16ps(0, 3, 6);
        _tile_loadd(4, from + p + 1, x_stride);
        _tile_dpbf16ps(1, 4, 6);
        _tile_loadd(5, from + p + 2, x_stride);
        _tile_dpbf16ps(2, 5, 6);
      }
      _tile_stored(0, sum, sum_stride);
      _tile_stored(1, sum + tap_sums, sum_stride);
      _tile_stored(2, sum + 2 * tap_sums, sum_stride);
    }
  }
}

}  // namespace

bool bfloat_tiles_available() {
  static const bool available = [] {
    constexpr int request_permission = 0x1023, tile_data = 18;
    unsigned a = 0, b = 0, c = 0, d = 0;
    __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
    const bool tiles = (d >> 22 & 1) && (d >> 24 & 1);
    __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(1));
    const bool bfloat_vectors = a >> 5 & 1;
    return tiles && bfloat_vectors && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  }();
  return available;
}

std::int64_t bfloat_weight_floats(std::int64_t k, std::int64_t c, std::int64_t taps) {
  return round_up(k, kTile) * round_up(c, kDepth) * taps / 2;
}

void pack_bfloat_weight(const float* weight, std::int64_t k, std::int64_t c, std::int64_t taps, bool adjoint, float* packed) {
  const std::int64_t rows = adjoint ? c : k, depth = adjoint ? k : c, depth_blocks = round_up(depth, kDepth) / kDepth;
  auto* out = reinterpret_cast<std::uint16_t*>(packed);
  const std::int64_t row_step = (adjoint ? 1 : c) * taps, depth_step = (adjoint ? c : 1) * taps;
  for (std::int64_t block = 0; block < round_up(rows, kTile); block += kTile) {   // in the order of the result
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const float* from = weight + (adjoint ? taps - 1 - tap : tap);
      for (std::int64_t d0 = 0; d0 < depth_blocks * kDepth; d0 += kDepth) {
        for (std::int64_t r = block; r < block + kTile; ++r) {
          for (std::int64_t d = d0; d < d0 + kDepth; ++d, ++out)
            *out = r < rows && d < depth ? to_bfloat(from[r * row_step + d * depth_step]) : 0;
        }
      }
    }
  }
}

void bfloat_convolution(const BfloatConvolution& conv) {
  const Flat flat = Flat::of(conv.shape, conv.taps);
  parallel_each((conv.shape.n + flat.images - 1) / flat.images, [&](std::int64_t group) { convolve_group(conv, flat, group); });
}

void bfloat_weight_gradient(const ConvolutionShape& s, std::int64_t taps, const float* x, const float* dy, float* dw, float* db) {
  const Flat flat = Flat::of(s, taps);
  const std::int64_t groups = (s.n + flat.images - 1) / flat.images, pixels = s.h * s.w, k_padded = round_up(s.k, kTile);
  const std::int64_t group_words = flat.positions / 2 * k_padded;
  thread_local Scratch pairs;
  auto* dy_pairs = reinterpret_cast<std::uint32_t*>(pairs.floats(groups * group_words));
  parallel_each(groups, [&](std::int64_t group) { pack_position_pairs(s, flat, dy, group, dy_pairs + group * group_words); });
  parallel_each(s.n, [&](std::int64_t n) {
    for (std::int64_t k = 0; k < s.k; ++k) {
      const float* plane = dy + (n * s.k + k) * pixels;
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t i = 0; i < pixels; ++i) sum += plane[i];
      db[n * s.k + k] = sum;
    }
  });
  // A thread has 16 input channels to itself: sums are added up in the order of the groups, whatever the number of threads.
  parallel_each(round_up(s.c, kTile) / kTile, [&](std::int64_t block) SPNN_TILES {
    thread_local Scratch rows, sums_of_block;
    auto* row = reinterpret_cast<std::uint16_t*>(rows.floats(kTile * flat.stride() / 2));
    float* sums = sums_of_block.floats(taps * kTile * k_padded);
    std::memset(sums, 0, static_cast<std::size_t>(taps * kTile * k_padded) * sizeof(float));
    for (std::int64_t group = 0; group < groups; ++group) {
      const std::int64_t first = group * flat.images, images = std::min(flat.images, s.n - first);
      for (std::int64_t i = 0; i < kTile; ++i) {
        const std::int64_t c = block * kTile + i;
        pack_channel(flat, c < s.c ? x + (first * s.c + c) * pixels : nullptr, images, s.c * pixels, row + i * flat.stride());
      }
      const ScopedTiles tiles;
      add_group_gradient(flat, taps, row, dy_pairs + group * group_words, k_padded, sums);
    }
    for (std::int64_t i = 0; i < kTile && block * kTile + i < s.c; ++i) {
      for (std::int64_t k = 0; k < s.k; ++k) {
        for (std::int64_t tap = 0; tap < taps; ++tap)
          dw[(k * s.c + block * kTile + i) * taps + tap] = sums[(tap * kTile + i) * k_padded + k];
      }
    }
  });
}

}  // namespace spnn::kernels

#else

namespace spnn::kernels {

bool bfloat_tiles_available() { return false; }
std::int64_t bfloat_weight_floats(std::int64_t, std::int64_t, std::int64_t) { return 0; }
void pack_bfloat_weight(const float*, std::int64_t, std::int64_t, std::int64_t, bool, float*) {}
void bfloat_convolution(const BfloatConvolution&) {}
void bfloat_weight_gradient(const ConvolutionShape&, std::int64_t, const float*, const float*, float*, float*) {}

}  // namespace spnn::kernels

#endif
