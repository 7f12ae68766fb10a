#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace spnn {

using torch::Tensor;

// An image is a uint8 tensor [C, H, W] with C = 1 (grey) or 3 (RGB). PNG, JPEG and WebP are told apart by
// their first bytes, never by the name. Transparent pixels are laid over white, 16-bit samples rounded to 8,
// and a photo is turned upright by its EXIF orientation.
Tensor decode_image(std::span<const std::uint8_t> file, std::string_view name);
Tensor read_image(const std::filesystem::path& file);

// By the ending of the name: .png and .webp are lossless, .jpg/.jpeg lose. Written beside and renamed: never
// half a file.
void write_image(const std::filesystem::path& file, const Tensor& image, int jpeg_quality = 95);
std::vector<std::uint8_t> encode_image(const Tensor& image, std::string_view extension,
                                       int jpeg_quality = 95);

// True for the endings above: what a folder of images is listed by.
bool has_image_extension(const std::filesystem::path& file);

Tensor as_rgb(const Tensor& image);   // grey is repeated
Tensor as_grey(const Tensor& image);  // Rec. 601 luma, as JPEG has it

// Between bytes and what networks see, for any shape: [−1, 1] = byte/127.5 − 1, and back by clamp and
// rounding.
Tensor to_unit(const Tensor& bytes);
Tensor to_bytes(const Tensor& x);

}  // namespace spnn
