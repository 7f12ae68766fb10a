#include <spnn/core/errors.h>
#include <spnn/image/codec.h>

#include <webp/decode.h>
#include <webp/encode.h>

#include <cmath>
#include <memory>

namespace spnn::codec {
namespace {

// In place: a float a channel of a large image would take four times its memory.
void lay_over_white(const Tensor& rgba) {
  auto* pixel = rgba.data_ptr<std::uint8_t>();
  for (std::int64_t left = rgba.numel() / 4; left > 0; --left, pixel += 4) {
    const float alpha = static_cast<float>(pixel[3]) / 255;
    for (int c = 0; c < 3; ++c)
      pixel[c] = static_cast<std::uint8_t>(std::nearbyint(static_cast<float>(pixel[c]) * alpha + 255 * (1 - alpha)));
  }
}

}  // namespace

Tensor decode_webp(EncodedImage file, std::string_view name) {
  WebPBitstreamFeatures features;
  require(WebPGetFeatures(file.data(), file.size(), &features) == VP8_STATUS_OK, name, "a readable WebP",
          "a damaged header");
  require(!features.has_animation, name, "a still image", "an animated WebP");
  require_sane_size(features.height, features.width, file.size(), name);
  const Tensor pixels = torch::empty({features.height, features.width, 4}, torch::kUInt8);
  require(WebPDecodeRGBAInto(file.data(), file.size(), pixels.data_ptr<std::uint8_t>(),
                             static_cast<std::size_t>(pixels.numel()), features.width * 4) != nullptr,
          name, "a readable WebP", "a damaged or truncated one");
  if (features.has_alpha) lay_over_white(pixels);
  return planes(pixels.slice(2, 0, 3));
}

std::vector<std::uint8_t> encode_webp(const Tensor& image) {
  const Tensor pixels = interleaved(image.size(0) == 1 ? image.expand({3, -1, -1}) : image);
  const auto height = static_cast<int>(image.size(1)), width = static_cast<int>(image.size(2));
  std::uint8_t* buffer = nullptr;
  const std::size_t size =
      WebPEncodeLosslessRGB(pixels.data_ptr<std::uint8_t>(), width, height, width * 3, &buffer);
  const std::unique_ptr<std::uint8_t, decltype(&WebPFree)> owner(buffer, WebPFree);
  require(size > 0, "encode_webp", "an image of at most 16383 × 16383",
          fmt::format("{} × {}", height, width));
  return {buffer, buffer + size};
}

}  // namespace spnn::codec
