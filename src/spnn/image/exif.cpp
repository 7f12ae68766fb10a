#include <spnn/image/codec.h>

#include <cstring>

namespace spnn::codec {
namespace {

// A TIFF block inside an APP1 segment, in either byte order. Reads beyond its end give 0, which no tag has.
class Tiff {
 public:
  explicit Tiff(EncodedImage bytes) : bytes_(bytes), big_endian_(bytes.size() > 1 && bytes[0] == 'M') {}

  std::uint32_t read(std::size_t at, int width) const {
    if (at + static_cast<std::size_t>(width) > bytes_.size()) return 0;
    std::uint32_t value = 0;
    for (int i = 0; i < width; ++i) {
      value = value << 8 | bytes_[at + static_cast<std::size_t>(big_endian_ ? i : width - 1 - i)];
    }
    return value;
  }

  int orientation() const {
    const std::size_t directory = read(4, 4);
    const std::uint32_t entries = read(directory, 2);
    for (std::uint32_t i = 0; i < entries; ++i) {
      const std::size_t entry = directory + 2 + 12 * std::size_t{i};
      if (read(entry, 2) == 0x0112) return static_cast<int>(read(entry + 8, 2));
    }
    return 1;
  }

 private:
  EncodedImage bytes_;
  bool big_endian_;
};

}  // namespace

int exif_orientation(EncodedImage jpeg) {
  std::size_t at = 2;  // after SOI
  while (at + 4 <= jpeg.size() && jpeg[at] == 0xFF && jpeg[at + 1] != 0xDA) {
    const std::size_t length = std::size_t{jpeg[at + 2]} << 8 | jpeg[at + 3];
    if (length < 2 || at + 2 + length > jpeg.size()) break;
    const EncodedImage segment = jpeg.subspan(at + 4, length - 2);
    if (jpeg[at + 1] == 0xE1 && segment.size() > 6 && std::memcmp(segment.data(), "Exif\0", 6) == 0) {
      const int orientation = Tiff(segment.subspan(6)).orientation();
      return orientation >= 1 && orientation <= 8 ? orientation : 1;
    }
    at += 2 + length;
  }
  return 1;
}

// EXIF numbers the eight symmetries of the rectangle: 5…8 exchange the axes first, then each is a pair of
// flips.
Tensor turn_upright(const Tensor& image, int orientation) {
  switch (orientation) {
    case 2:
      return image.flip({2});
    case 3:
      return image.flip({1, 2});
    case 4:
      return image.flip({1});
    case 5:
      return image.transpose(1, 2).contiguous();
    case 6:
      return image.transpose(1, 2).flip({2});
    case 7:
      return image.transpose(1, 2).flip({1, 2});
    case 8:
      return image.transpose(1, 2).flip({1});
    default:
      return image;
  }
}

}  // namespace spnn::codec
