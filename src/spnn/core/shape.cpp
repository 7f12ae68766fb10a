#include <spnn/core/errors.h>
#include <spnn/core/shape.h>

#include <fmt/ranges.h>

namespace spnn {

std::string to_string(const Shape& shape) {
  return fmt::format("{}×{}×{}", shape.channels, shape.height, shape.width);
}

std::string to_string(torch::IntArrayRef sizes) {
  return fmt::format("[{}]", fmt::join(sizes.begin(), sizes.end(), ", "));
}

void require_shape(const Tensor& x, const Shape& shape, std::string_view where) {
  const bool vector = x.dim() == 2 && shape.height == 1 && shape.width == 1 && x.size(1) == shape.channels;
  const bool image = x.dim() == 4 && x.size(1) == shape.channels && x.size(2) == shape.height &&
                     x.size(3) == shape.width;
  require(vector || image, where, fmt::format("a batch of {}", to_string(shape)), to_string(x.sizes()));
}

}  // namespace spnn
