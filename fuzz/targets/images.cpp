#include <spnn/image/codec.h>
#include <spnn/image/image.h>

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "../fuzz.h"

namespace spnn::fuzz {
namespace {

std::uint32_t big_endian(const Input& input, std::size_t at) {
  return std::uint32_t{input[at]} << 24 | std::uint32_t{input[at + 1]} << 16 | std::uint32_t{input[at + 2]} << 8 | input[at + 3];
}

void put_big_endian(Input& input, std::size_t at, std::uint32_t value) {
  for (int i = 3; i >= 0; --i, value >>= 8) input[at + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value);
}

// The sum of every chunk. Sides above 256 are brought down: a size that costs a tenth of a second an execution has its own test.
void repair_png(Input& input) {
  for (std::size_t at = 8; at + 12 <= input.size();) {
    const auto length = big_endian(input, at);
    if (length > input.size() - at - 12) return;
    if (std::memcmp(input.data() + at + 4, "IHDR", 4) == 0 && length >= 8) {
      for (const std::size_t side : {at + 8, at + 12}) {
        if (big_endian(input, side) > 256) put_big_endian(input, side, big_endian(input, side) % 256 + 1);
      }
    }
    put_big_endian(input, at + 8 + length, static_cast<std::uint32_t>(crc32_z(crc32_z(0, nullptr, 0), input.data() + at + 4, length + 4)));
    at += 12 + length;
  }
}

// Sides of a start of frame.
void repair_jpeg(Input& input) {
  for (std::size_t at = 2; at + 9 < input.size(); ++at) {
    const bool frame = input[at] == 0xFF && input[at + 1] >= 0xC0 && input[at + 1] <= 0xCF && input[at + 1] != 0xC4;
    if (frame) input[at + 5] = input[at + 7] = 0;
  }
}

// The size of the file and of its chunk.
void repair_webp(Input& input) {
  if (input.size() < 20) return;
  const auto put = [&](std::size_t at, std::size_t value) {
    const auto four = static_cast<std::uint32_t>(value);
    std::memcpy(input.data() + at, &four, 4);
  };
  put(4, input.size() - 8);
  put(16, input.size() - 20);
}

void read_exif(View tiff) {
  Input jpeg = {0xFF, 0xD8, 0xFF, 0xE1, static_cast<std::uint8_t>((tiff.size() + 8) >> 8), static_cast<std::uint8_t>(tiff.size() + 8), 'E', 'x', 'i', 'f', 0, 0};
  jpeg.insert(jpeg.end(), tiff.begin(), tiff.end());
  codec::exif_orientation(jpeg);
}

}  // namespace

void add_image_targets(std::vector<Target>& all) {
  const auto decode = [](View input) { decode_image(input, "fuzz"); };
  all.push_back({.name = "png", .read = decode, .repair = repair_png,
                 .words = {"IHDR", "IDAT", "PLTE", "tRNS", "IEND", "gAMA", "iCCP", "sBIT", "acTL", "zTXt", std::string("\0\0\0\0", 4)}});
  all.push_back({.name = "jpeg", .read = decode, .repair = repair_jpeg,
                 .words = {"\xff\xc0", "\xff\xc2", "\xff\xc4", "\xff\xda", "\xff\xdb", "\xff\xdd", "\xff\xd9", "\xff\xe1", "\xff\xee", std::string("Exif\0\0", 6), "\xff\xd0"}});
  all.push_back({.name = "webp", .read = decode, .repair = repair_webp, .words = {"RIFF", "WEBP", "VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ICCP", "EXIF", "\x9d\x01\x2a", "\x2f"}});
  all.push_back({.name = "exif", .read = read_exif, .words = {std::string("MM\0*", 4), std::string("II*\0", 4), "\x01\x12", "\x12\x01"}, .longest = 512});
}

}  // namespace spnn::fuzz
