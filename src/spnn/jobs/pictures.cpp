#include <spnn/core/errors.h>
#include <spnn/image/image.h>
#include <spnn/image/resize.h>
#include <spnn/jobs/pictures.h>

#include <algorithm>
#include <filesystem>

namespace spnn::engine {
namespace {

std::string where_of(const Photo& photo) { return photo.file.empty() ? name_of(photo) : photo.file; }

// The largest centred part with these proportions.
Box centred(std::int64_t H, std::int64_t W, const Shape& shape) {
  const auto height = std::min(H, W * shape.height / shape.width), width = std::min(W, H * shape.width / shape.height);
  const auto left = (W - width) / 2, top = (H - height) / 2;
  return {left, top, left + width, top + height};
}

}  // namespace

Tensor to_tensor(const Image& image, std::string_view where) {
  const bool sizes = image.width > 0 && image.height > 0 && (image.channels == 1 || image.channels == 3) &&
                     image.width <= (1 << 20) && image.height <= (1 << 20);
  require(sizes && std::ssize(image.pixels) == image.width * image.height * image.channels, where,
          "width · height · channels bytes, 1 or 3 channels",
          fmt::format("{} bytes for {} × {} × {}", image.pixels.size(), image.width, image.height, image.channels));
  return torch::tensor(at::ArrayRef<std::uint8_t>(image.pixels), torch::kUInt8)
      .view({image.height, image.width, image.channels}).permute({2, 0, 1}).contiguous();
}

Image to_image(const Tensor& bytes) {
  const auto rows = bytes.to(torch::kCPU).permute({1, 2, 0}).contiguous();
  const auto* first = rows.data_ptr<std::uint8_t>();
  return {.width = rows.size(1), .height = rows.size(0), .channels = rows.size(2), .pixels = {first, first + rows.numel()}};
}

std::string name_of(const Photo& photo) {
  if (!photo.name.empty()) return photo.name;
  return photo.file.empty() ? "photo" : std::filesystem::path(photo.file).stem().string();
}

Tensor open_photo(const Photo& photo) {
  if (!photo.file.empty()) return read_image(photo.file);
  if (!photo.encoded.empty()) return decode_image(photo.encoded, name_of(photo));
  return to_tensor(photo.image, name_of(photo));
}

Tensor open_photo(const Photo& photo, const Shape& shape, bool fit, Observer* told) {
  const auto where = where_of(photo);
  require(shape.channels == 1 || shape.channels == 3, where, "a network on images with 1 or 3 channels", to_string(shape));
  auto image = open_photo(photo);
  image = shape.channels == 1 ? as_grey(image) : as_rgb(image);
  if (!photo.box && image.size(1) == shape.height && image.size(2) == shape.width) return image;
  require(fit || photo.box, where, fmt::format("an image of {} × {}", shape.width, shape.height),
          fmt::format("{} × {}", image.size(2), image.size(1)), "without --no-fit the middle is cut out and resized");
  const auto box = photo.box ? Box{photo.box->left, photo.box->top, photo.box->right, photo.box->bottom}
                             : centred(image.size(1), image.size(2), shape);
  if (told) {
    told->message(fmt::format("{}: {} × {} of its {} × {} pixels, from ({}, {}), made {} × {}", where, box.right - box.left, box.bottom - box.top,
                              image.size(2), image.size(1), box.left, box.top, shape.width, shape.height));
  }
  return resize(crop(image, box, where), shape.height, shape.width);
}

Photo photo_file(const std::string& file) { return {.file = file}; }

std::vector<Photo> photo_files(std::span<const std::string> files) {
  std::vector<Photo> photos;
  for (const auto& file : files) photos.push_back(photo_file(file));
  return photos;
}

}  // namespace spnn::engine
