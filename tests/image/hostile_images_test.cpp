#include <gtest/gtest.h>
#include <spnn/image/image.h>

#include <sys/stat.h>
#include <zlib.h>

#include "support/hostile.h"
#include "support/temporary.h"

namespace spnn {
namespace {

std::string big(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8), static_cast<char>(value)};
}

std::string png_chunk(const std::string& name, const std::string& data) {
  const auto content = name + data;
  return big(static_cast<std::uint32_t>(data.size())) + content +
         big(static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()))));
}

std::string deflated(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(), 9);
  out.resize(size);
  return out;
}

std::string png_of(std::uint32_t width, std::uint32_t height, const std::string& extra, const std::string& data) {
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", big(width) + big(height) + std::string("\x08\x00\x00\x00\x00", 5)) + extra +
         png_chunk("IDAT", data) + png_chunk("IEND", "");
}

std::span<const std::uint8_t> span_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void expect_refused(const std::string& name, const std::string& file, const std::string& expected) {
  testing::expect_harmless(name, file.size(), expected, [&] { decode_image(span_of(file), "picture"); });
}

std::string jpeg_header(std::uint16_t height, std::uint16_t width, char kind) {
  const auto two = [](std::uint16_t v) { return std::string{static_cast<char>(v >> 8), static_cast<char>(v)}; };
  return std::string("\xFF\xD8\xFF") + kind + two(17) + '\x08' + two(height) + two(width) + std::string("\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00", 10);
}

const std::string scan_header("\xFF\xDA\x00\x0C\x03\x01\x00\x02\x00\x03\x00\x00\x00\x00", 14);   // of the first, DC only

TEST(HostileImages, CostLittle) {
  const auto webp_lossless = [] {   // 16383 × 16383 in 32 bytes
    std::string vp8l("\x2F\xFE\xBF\xFF\x0F\x00\x00\x00\x00\x00", 10);
    vp8l.resize(12, '\0');
    const auto little = [](std::uint32_t v) { return std::string{static_cast<char>(v), static_cast<char>(v >> 8), static_cast<char>(v >> 16), static_cast<char>(v >> 24)}; };
    return "RIFF" + little(24) + "WEBPVP8L" + little(12) + vp8l;
  }();
  expect_refused("WebP of 32 bytes, 16383²", webp_lossless, "million pixels");
  expect_refused("progressive JPEG of 65500²", jpeg_header(65500, 65500, '\xC2') + scan_header + std::string(486, '\0'), "million pixels");
  expect_refused("PNG of 32768² in 131 kB", png_of(32768, 32768, "", deflated(std::string(8 << 20, '\0'))), "million pixels");
  const std::string end = big(0x504c5445) + "zTXt";   // found by the fuzzer: the file ends behind the name of a chunk of 1.3 GB
  const auto header = png_of(8, 8, "", "").substr(0, 33);
  expect_refused("PNG that ends at a comment of 1.3 GB", header + end, "a chunk of 1347179589 bytes in a file of");
  const std::string comment = big(0x4500006a) + "zTXt" + std::string(100, 'a');   // found by the fuzzer: 1.1 GB were asked for
  expect_refused("PNG with a comment of 1.1 GB in 165 bytes", png_of(8, 8, comment, ""), "a chunk of 1157628010 bytes in a file of");
  // What the limits let through: the largest that a small file may claim.
  const auto rows = [](std::uint32_t width, std::uint32_t height) { return deflated(std::string(std::size_t{height} * (width + 1), '\0')); };
  expect_refused("PNG of 5600², the most for 30 kB", png_of(5600, 5600, "", rows(5600, 5600)), "");
  expect_refused("progressive JPEG of 5600² without data", jpeg_header(5600, 5600, '\xC2') + scan_header + "\xFF\xD9", "");
  std::string scans = jpeg_header(2000, 2000, '\xC2');
  for (int i = 0; i < 3000; ++i) scans += std::string("\xFF\xDA\x00\x08\x01\x01\x00\x00\x00\x00", 10);
  expect_refused("JPEG of 3,000 scans", scans + "\xFF\xD9", "at most 64 scans, got 3000");
}

TEST(HostileImages, APngWithAHarmlessWarningIsRead) {
  const std::string row("\0\x40\x80", 3);
  const auto file = png_of(2, 2, png_chunk("gAMA", std::string(4, '\0')) + png_chunk("sRGB", "\x09"), deflated(row + row));
  const auto image = decode_image(span_of(file), "picture");
  EXPECT_EQ(image.sizes(), (std::vector<std::int64_t>{1, 2, 2}));
}

TEST(HostileImages, APipeOrDeviceIsRefusedAtOnce) {
  const testing::TemporaryFolder folder;
  const auto pipe = folder / "pipe.png";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  testing::expect_harmless("a FIFO as image", 0, "got a pipe", [&] { read_image(pipe); });
  testing::expect_harmless("/dev/zero as image", 0, "got a device", [] { read_image("/dev/zero"); });
}

}  // namespace
}  // namespace spnn
