#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/image/resize.h>

#include <ATen/ops/_upsample_bicubic2d_aa.h>

#include <algorithm>

namespace spnn {

Tensor resize(const Tensor& image, std::int64_t height, std::int64_t width) {
  require(image.dim() == 3 || image.dim() == 4, "resize", "[C, H, W] or [B, C, H, W]",
          to_string(image.sizes()));
  require(height >= 1 && width >= 1, "resize", "a size of at least 1 × 1",
          fmt::format("{} × {}", height, width));
  if (image.size(-2) == height && image.size(-1) == width) return image;
  const bool bytes = image.scalar_type() == torch::kUInt8;
  const Tensor batch = image.dim() == 3 ? image.unsqueeze(0) : image;
  const Tensor real = bytes ? batch.to(torch::kFloat32) : batch;
  Tensor small =
      at::_upsample_bicubic2d_aa(real, {height, width}, /*align_corners=*/false);
  if (bytes) small = small.round().clamp(0, 255).to(torch::kUInt8);
  return image.dim() == 3 ? small.squeeze(0) : small;
}

Tensor crop(const Tensor& image, const Box& box, std::string_view where) {
  const std::int64_t height = image.size(-2), width = image.size(-1);
  const bool inside = 0 <= box.left && box.left < box.right && box.right <= width &&  //
                      0 <= box.top && box.top < box.bottom && box.bottom <= height;
  require(inside, where, fmt::format("a crop inside {} × {} pixels (width × height)", width, height),
          fmt::format("({}, {})–({}, {})", box.left, box.top, box.right, box.bottom));
  return image.slice(-2, box.top, box.bottom).slice(-1, box.left, box.right);
}

Tensor centre_square(const Tensor& image) {
  const std::int64_t height = image.size(-2), width = image.size(-1), side = std::min(height, width);
  const std::int64_t top = (height - side) / 2, left = (width - side) / 2;
  return crop(image, {left, top, left + side, top + side});
}

Tensor fit(const Tensor& image, std::int64_t size, const std::optional<Box>& box, std::string_view where) {
  return resize(box ? crop(image, *box, where) : centre_square(image), size, size).contiguous();
}

}  // namespace spnn
