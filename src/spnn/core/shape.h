#pragma once

#include <torch/types.h>

#include <string>

namespace spnn {

using torch::Tensor;

// One example of a batch: channels × height × width. A vector is {channels, 1, 1}.
struct Shape {
  std::int64_t channels = 0;
  std::int64_t height = 1;
  std::int64_t width = 1;

  std::int64_t size() const { return channels * height * width; }
  std::vector<std::int64_t> batched(std::int64_t batch) const { return {batch, channels, height, width}; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

std::string to_string(const Shape& shape);                 // "3×64×64"
std::string to_string(torch::IntArrayRef sizes);           // "[2, 3, 64, 64]"

// ensures: x is a batch of such examples (a [B, C] tensor passes for {C, 1, 1}); throws Error naming `where` otherwise.
void require_shape(const Tensor& x, const Shape& shape, std::string_view where);

}  // namespace spnn
