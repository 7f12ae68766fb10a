#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace spnn {

using torch::Tensor;

// Pixels from (left, top) up to but not including (right, bottom).
struct Box {
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;
  friend bool operator==(const Box&, const Box&) = default;
};

// All of these take [C, H, W] or [B, C, H, W], bytes or floats, and keep the type.

// Bicubic with antialiasing (the filter widens when shrinking); bytes are rounded and clamped, floats left as
// they are.
Tensor resize(const Tensor& image, std::int64_t height, std::int64_t width);

// requires: the box is not empty and inside the image. `where` names the image in the error.
Tensor crop(const Tensor& image, const Box& box, std::string_view where = "crop");

// The largest square in the middle.
Tensor centre_square(const Tensor& image);

// A user's picture as a network wants it: the box (or the centre square), then size × size.
Tensor fit(const Tensor& image, std::int64_t size, const std::optional<Box>& box = {},
           std::string_view where = "fit");

}  // namespace spnn
