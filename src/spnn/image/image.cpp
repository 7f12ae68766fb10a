#include <spnn/core/errors.h>
#include <spnn/core/io.h>
#include <spnn/core/shape.h>
#include <spnn/core/text.h>
#include <spnn/image/codec.h>
#include <spnn/image/image.h>

#include <algorithm>
#include <cstring>

namespace spnn {
namespace {

constexpr std::uint64_t largest_image_file = 1 << 30;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool starts_with(std::span<const std::uint8_t> file, std::string_view magic, std::size_t at = 0) {
  return file.size() >= at + magic.size() && std::memcmp(file.data() + at, magic.data(), magic.size()) == 0;
}

void require_image(const Tensor& image, std::string_view where) {
  require(
      image.dim() == 3 && image.scalar_type() == torch::kUInt8 && (image.size(0) == 1 || image.size(0) == 3),
      where, "a uint8 image [1 or 3, H, W]",
      fmt::format("{} {}", c10::toString(image.scalar_type()), to_string(image.sizes())));
}

}  // namespace

namespace codec {

void require_sane_size(std::int64_t height, std::int64_t width, std::size_t file_size, std::string_view name) {
  const auto paid = free_pixels + pixels_per_byte * static_cast<std::int64_t>(std::min<std::size_t>(file_size, most_pixels));
  const auto most = std::min(most_pixels, paid);
  require(height >= 1 && width >= 1 && height <= most / width, name,
          fmt::format("an image of 1 to {} million pixels in a file of {} bytes", most / 1'000'000, file_size),
          fmt::format("{} × {}", height, width));
}

Tensor planes(const Tensor& interleaved) {
  return interleaved.permute({2, 0, 1}).contiguous();
}
Tensor interleaved(const Tensor& planes) {
  return planes.permute({1, 2, 0}).contiguous();
}

}  // namespace codec

Tensor decode_image(std::span<const std::uint8_t> file, std::string_view name) {
  if (starts_with(file, "\xFF\xD8\xFF")) return codec::decode_jpeg(file, name);
  if (starts_with(file, "\x89PNG\r\n\x1a\n")) return codec::decode_png(file, name);
  if (starts_with(file, "RIFF") && starts_with(file, "WEBP", 8)) return codec::decode_webp(file, name);
  fail(name, "a PNG, JPEG or WebP image", file.empty() ? "an empty file" : "other content");
}

Tensor read_image(const std::filesystem::path& file) {
  return naming_the_file(file.string(), [&] {
    const FileContent content(file, largest_image_file);
    const auto bytes = content.bytes();
    return decode_image({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, file.string());
  });
}

std::vector<std::uint8_t> encode_image(const Tensor& image, std::string_view extension, int jpeg_quality) {
  require_image(image, "encode_image");
  require(jpeg_quality >= 1 && jpeg_quality <= 100, "encode_image", "a JPEG quality from 1 to 100",
          std::to_string(jpeg_quality));
  const Tensor pixels = image.to(torch::kCPU);
  const std::string ending = lower_case(std::string(extension));
  if (ending == ".png") return codec::encode_png(pixels);
  if (ending == ".jpg" || ending == ".jpeg") return codec::encode_jpeg(pixels, jpeg_quality);
  if (ending == ".webp") return codec::encode_webp(pixels);
  fail("encode_image", "a name ending in .png, .jpg or .webp", fmt::format("'{}'", extension));
}

void write_image(const std::filesystem::path& file, const Tensor& image, int jpeg_quality) {
  const auto bytes = encode_image(image, file.extension().string(), jpeg_quality);
  write_atomically(file, std::as_bytes(std::span(bytes)));
}

bool has_image_extension(const std::filesystem::path& file) {
  const std::string ending = lower_case(file.extension().string());
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg" || ending == ".webp";
}

Tensor as_rgb(const Tensor& image) {
  require_image(image, "as_rgb");
  return image.size(0) == 3 ? image : image.expand({3, -1, -1}).contiguous();
}

Tensor as_grey(const Tensor& image) {
  require_image(image, "as_grey");
  if (image.size(0) == 1) return image;
  const Tensor luma = torch::tensor({0.299f, 0.587f, 0.114f}).view({3, 1, 1});
  return (image * luma).sum(0, /*keepdim=*/true).round().to(torch::kUInt8);
}

Tensor to_unit(const Tensor& bytes) {
  return bytes.to(torch::kFloat32).div_(127.5).sub_(1);
}

Tensor to_bytes(const Tensor& x) {
  return x.clamp(-1, 1).add(1).mul(127.5).round().to(torch::kUInt8);
}

}  // namespace spnn
