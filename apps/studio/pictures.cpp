#include "pictures.h"

#include <zlib.h>

#include <stdexcept>

namespace spnn::studio {
namespace {

std::string be32(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

std::string chunk(const std::string& type, const std::string& data) {
  const auto body = type + data;
  const auto crc =
      crc32(crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return be32(static_cast<std::uint32_t>(data.size())) + body + be32(static_cast<std::uint32_t>(crc));
}

// Each byte minus the one a pixel to the left: photos become a third smaller, for nothing.
std::string filtered(const engine::Image& image) {
  const auto row = static_cast<std::size_t>(image.width * image.channels),
             step = static_cast<std::size_t>(image.channels);
  std::string out;
  out.reserve((row + 1) * static_cast<std::size_t>(image.height));
  for (std::int64_t y = 0; y < image.height; ++y) {
    const auto* line = image.pixels.data() + static_cast<std::size_t>(y) * row;
    out += '\1';
    for (std::size_t i = 0; i < row; ++i) out += static_cast<char>(line[i] - (i < step ? 0 : line[i - step]));
  }
  return out;
}

std::uint32_t number(std::string_view bytes, std::size_t at, std::size_t count, bool big) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at + (big ? i : count - 1 - i)]);
    value = value << 8 | byte;
  }
  return value;
}

std::optional<FileSize> look_at_jpeg(std::string_view file) {
  for (std::size_t at = 2; at + 9 < file.size();) {
    if (static_cast<unsigned char>(file[at]) != 0xFF) return {};
    const auto marker = static_cast<unsigned char>(file[at + 1]);
    if (marker == 0xFF) {
      ++at;
      continue;
    }
    const bool frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (frame) return FileSize{"image/jpeg", number(file, at + 7, 2, true), number(file, at + 5, 2, true)};
    if (marker == 0xD9 || marker == 0xDA) return {};
    const auto length = number(file, at + 2, 2, true);
    if (length < 2) return {};
    at += 2 + length;
  }
  return {};
}

std::optional<FileSize> look_at_webp(std::string_view file) {
  if (file.size() < 30) return {};
  const auto kind = file.substr(12, 4);
  if (kind == "VP8X") return FileSize{"image/webp", 1 + number(file, 24, 3, false), 1 + number(file, 27, 3, false)};
  if (kind == "VP8 ")
    return FileSize{"image/webp", number(file, 26, 2, false) & 0x3FFF, number(file, 28, 2, false) & 0x3FFF};
  if (kind == "VP8L") {
    const auto bits = number(file, 21, 4, false);
    return FileSize{"image/webp", 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)};
  }
  return {};
}

}  // namespace

std::string png(const engine::Image& image, const std::string& text) {
  const auto raw = filtered(image);
  auto size = compressBound(raw.size());
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(raw.data()),
                raw.size(), 4) != Z_OK)
    throw std::runtime_error("png: expected zlib to pack the picture, got an error");
  packed.resize(size);
  const std::string kind{8, static_cast<char>(image.channels == 1 ? 0 : 2), 0, 0, 0};
  auto file = "\x89PNG\r\n\x1a\n" + chunk("IHDR", be32(static_cast<std::uint32_t>(image.width)) +
                                                      be32(static_cast<std::uint32_t>(image.height)) + kind);
  if (!text.empty()) file += chunk("iTXt", std::string("spnn\0\0\0\0\0", 9) + text);  // uncompressed, no language
  return file + chunk("IDAT", packed) + chunk("IEND", "");
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0);
    for (std::size_t j = 0; j < 4; ++j) out += i + j > bytes.size() ? '=' : kDigits[three >> (18 - 6 * j) & 63];
  }
  return out;
}

std::optional<FileSize> look_at(std::string_view file) {
  if (file.size() >= 26 && file.substr(0, 8) == "\x89PNG\r\n\x1a\n" && file.substr(12, 4) == "IHDR")
    return FileSize{"image/png", number(file, 16, 4, true), number(file, 20, 4, true)};
  if (file.size() >= 12 && file.substr(0, 2) == "\xFF\xD8") return look_at_jpeg(file);
  if (file.size() >= 16 && file.substr(0, 4) == "RIFF" && file.substr(8, 4) == "WEBP") return look_at_webp(file);
  return {};
}

}  // namespace spnn::studio
