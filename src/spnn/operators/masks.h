#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>

namespace spnn {

using torch::Tensor;

// Masks [H, W], true where the pixel is known. A seed makes the same mask every time.
struct BoxHole {
  std::int64_t left = 0, top = 0, width = 0, height = 0;
};
Tensor box_mask(std::int64_t height, std::int64_t width, const BoxHole& hole);
Tensor random_mask(std::int64_t height, std::int64_t width, double keep, std::uint64_t seed);

// Thick crooked strokes until at least the share `hole` of the pixels is hidden.
Tensor freeform_mask(std::int64_t height, std::int64_t width, double hole, std::uint64_t seed);

// White (128 and more) is known, black is missing.
Tensor read_mask(const std::filesystem::path& file, std::int64_t height, std::int64_t width);
Tensor mask_from(const Tensor& image, std::string_view where, std::int64_t height, std::int64_t width);

// A blur kernel: numbers in rows, or an image whose grey values are the weights. Divided by its sum.
Tensor read_kernel(const std::filesystem::path& file);

}  // namespace spnn
