#pragma once

// One codec a file format, used by image.cpp only. Decoders return [C, H, W]; encoders take such a CPU
// tensor.

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace spnn::codec {

using torch::Tensor;
using Bytes = std::span<const std::uint8_t>;

Tensor decode_jpeg(Bytes file, std::string_view name);
Tensor decode_png(Bytes file, std::string_view name);
Tensor decode_webp(Bytes file, std::string_view name);

std::vector<std::uint8_t> encode_jpeg(const Tensor& image, int quality);
std::vector<std::uint8_t> encode_png(const Tensor& image);
std::vector<std::uint8_t> encode_webp(const Tensor& image);  // lossless

// 1…8 as EXIF defines it; 1 (upright) when the JPEG does not say.
int exif_orientation(Bytes jpeg);
Tensor turn_upright(const Tensor& image, int orientation);

// A decoded image larger than this is refused before its memory is asked for.
inline constexpr std::int64_t largest_side = 32768;
void require_sane_size(std::int64_t height, std::int64_t width, std::string_view name);

Tensor planes(const Tensor& interleaved);  // [H, W, C] → [C, H, W]
Tensor interleaved(const Tensor& planes);  // [C, H, W] → [H, W, C]

}  // namespace spnn::codec
