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
using EncodedImage = std::span<const std::uint8_t>;

Tensor decode_jpeg(EncodedImage file, std::string_view name);
Tensor decode_png(EncodedImage file, std::string_view name);
Tensor decode_webp(EncodedImage file, std::string_view name);

std::vector<std::uint8_t> encode_jpeg(const Tensor& image, int quality);
std::vector<std::uint8_t> encode_png(const Tensor& image);
std::vector<std::uint8_t> encode_webp(const Tensor& image);  // lossless

// 1…8 as EXIF defines it; 1 (upright) when the JPEG does not say.
int exif_orientation(EncodedImage jpeg);
Tensor turn_upright(const Tensor& image, int orientation);

// How much a file may ask for: a few bytes can claim any size, so that pixels beyond the first 32 million must be paid for
// with bytes of the file, and more than 100 million are refused. Checked before memory is asked for.
inline constexpr std::int64_t most_pixels = 100'000'000, free_pixels = 32'000'000, pixels_per_byte = 8;
void require_sane_size(std::int64_t height, std::int64_t width, std::size_t file_size, std::string_view name);

Tensor planes(const Tensor& interleaved);  // [H, W, C] → [C, H, W]
Tensor interleaved(const Tensor& planes);  // [C, H, W] → [H, W, C]

}  // namespace spnn::codec
