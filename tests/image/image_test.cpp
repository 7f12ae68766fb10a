#include <gtest/gtest.h>
#include <spnn/core/config.h>
#include <spnn/core/rng.h>
#include <spnn/image/codec.h>
#include <spnn/image/image.h>

#include <png.h>

#include "support/damage.h"
#include "support/temporary.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::TensorNear;

Tensor noise(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return (Rng(4).uniform({channels, height, width}) * 256).to(torch::kUInt8);
}

// Slow gradients, which JPEG keeps well.
Tensor smooth(std::int64_t channels, std::int64_t height, std::int64_t width) {
  const Tensor y = torch::linspace(0, 200, height).view({1, height, 1}),
               x = torch::linspace(0, 55, width).view({1, 1, width});
  return (y + x).expand({channels, height, width}).to(torch::kUInt8);
}

testing::ByteReader decoder() {
  return [](std::span<const std::byte> bytes) {
    decode_image({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "picture");
  };
}

class Lossless : public ::testing::TestWithParam<const char*> {};

TEST_P(Lossless, AFileHoldsTheSamePixels) {
  const testing::TemporaryFolder folder;
  const auto file = folder / (std::string("x") + GetParam());
  write_image(file, noise(3, 5, 9));
  EXPECT_THAT(read_image(file), TensorNear(noise(3, 5, 9), 0));
}

INSTANTIATE_TEST_SUITE_P(Formats, Lossless, ::testing::Values(".png", ".webp", ".PNG"));

TEST(Image, GreyStaysGreyInPngAndJpeg) {
  for (const char* ending : {".png", ".jpg"}) {
    const auto bytes = encode_image(smooth(1, 16, 24), ending);
    EXPECT_THAT(decode_image(bytes, "grey"), TensorNear(smooth(1, 16, 24), 4)) << ending;
  }
}

TEST(Image, JpegIsCloseOnSmoothImages) {
  EXPECT_THAT(decode_image(encode_image(smooth(3, 33, 47), ".jpg"), "x"), TensorNear(smooth(3, 33, 47), 4));
}

TEST(Image, TheContentDecidesTheFormatNotTheName) {
  const testing::TemporaryFolder folder;
  write_image(folder / "x.png", noise(3, 4, 4));
  std::filesystem::rename(folder / "x.png", folder / "x.jpg");
  EXPECT_THAT(read_image(folder / "x.jpg"), TensorNear(noise(3, 4, 4), 0));
}

TEST(Image, ErrorsNameTheFileAndWhatItHolds) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder / "notes.png", "no picture");
  EXPECT_THAT(testing::refusal([&] { read_image(folder / "notes.png"); }),
              HasSubstr("notes.png: expected a PNG, JPEG or WebP image, got other content"));
  EXPECT_THAT(testing::refusal([&] { read_image(folder / "absent.png"); }),
              HasSubstr("absent.png: expected a readable file"));
  EXPECT_THAT(testing::refusal([&] { write_image(folder / "x.bmp", noise(3, 2, 2)); }),
              HasSubstr("got '.bmp'"));
  EXPECT_THAT(testing::refusal([&] {
                write_image(folder / "x.png", torch::zeros({3, 2, 2}));
              }),
              HasSubstr("Float [3, 2, 2]"));
}

TEST(Image, AFailedWriteLeavesTheOldFile) {
  const testing::TemporaryFolder folder;
  write_image(folder / "x.png", noise(3, 4, 4));
  EXPECT_THROW(write_image(folder / "x.png", torch::zeros({2, 4, 4}, torch::kUInt8)), Error);
  EXPECT_THAT(read_image(folder / "x.png"), TensorNear(noise(3, 4, 4), 0));
}

TEST(Image, ATruncatedFileIsRefusedInEveryFormat) {
  for (const char* ending : {".png", ".jpg", ".webp"}) {
    const auto file = encode_image(noise(3, 12, 12), ending);
    const auto bytes = std::as_bytes(std::span(file));
    EXPECT_EQ(testing::refusal(decoder(), bytes), "");
    for (std::size_t length = 0; length + 12 < file.size();
         length += 7) {  // end markers (PNG 12 bytes) hold no pixels
      EXPECT_NE(testing::refusal(decoder(), bytes.first(length)), "") << ending << " cut to " << length;
    }
  }
}

TEST(Image, DamagedBytesNeverCrash) {
  for (const char* ending : {".png", ".jpg", ".webp"}) {
    const auto file = encode_image(noise(3, 12, 12), ending);
    testing::refused_flips(decoder(), std::as_bytes(std::span(file)), /*trials=*/150, /*seed=*/1);
  }
}

// A PNG of any libpng format, for what users bring and we do not write.
std::vector<std::uint8_t> foreign_png(png_uint_32 format, const void* pixels, png_uint_32 height,
                                      png_uint_32 width) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.height = height;
  image.width = width;
  image.format = format;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image) + 4096;
  std::vector<std::uint8_t> file(size);
  EXPECT_TRUE(png_image_write_to_memory(&image, file.data(), &size, 0, pixels, 0, nullptr)) << image.message;
  file.resize(size);
  return file;
}

TEST(Image, TransparencyIsLaidOverWhite) {
  const std::uint8_t rgba[2][4] = {{10, 20, 30, 255}, {10, 20, 30, 0}};
  const Tensor image = decode_image(foreign_png(PNG_FORMAT_RGBA, rgba, 1, 2), "rgba");
  EXPECT_THAT(image, TensorNear(torch::tensor({10, 255, 20, 255, 30, 255}).view({3, 1, 2}), 0));
}

TEST(Image, SixteenBitSamplesAreRoundedToEight) {
  // The simplified writer takes linear light and marks the file so: black, white and nothing between is
  // unambiguous.
  const std::uint16_t grey[2] = {0, 65535};
  const Tensor image = decode_image(foreign_png(PNG_FORMAT_LINEAR_Y, grey, 1, 2), "16 bit");
  EXPECT_THAT(image, TensorNear(torch::tensor({0, 255}).view({1, 1, 2}), 0));
}

// A JPEG with an EXIF orientation behind its start marker.
std::vector<std::uint8_t> turned(const Tensor& image, std::uint8_t orientation, bool big_endian) {
  auto file = encode_image(image, ".jpg");
  std::vector<std::uint8_t> tiff;
  const auto put = [&](std::uint32_t value, int width) {
    for (int i = 0; i < width; ++i)
      tiff.push_back(std::uint8_t(value >> 8 * (big_endian ? width - 1 - i : i)));
  };
  tiff = {std::uint8_t(big_endian ? 'M' : 'I'), std::uint8_t(big_endian ? 'M' : 'I')};
  put(42, 2), put(8, 4), put(1, 2);                                      // directory at 8, one entry
  put(0x0112, 2), put(3, 2), put(1, 4), put(orientation, 2), put(0, 2);  // a short
  put(0, 4);
  std::vector<std::uint8_t> segment = {0xFF, 0xE1, 0, std::uint8_t(tiff.size() + 8), 'E', 'x', 'i',
                                       'f',  0,    0};
  segment.insert(segment.end(), tiff.begin(), tiff.end());
  file.insert(file.begin() + 2, segment.begin(), segment.end());
  return file;
}

TEST(Image, APhotoIsTurnedUprightByItsExifOrientation) {
  const Tensor stored = smooth(3, 16, 32);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const bool big_endian : {false, true}) {
      const auto file = turned(stored, std::uint8_t(orientation), big_endian);
      EXPECT_EQ(codec::exif_orientation(file), orientation);
      EXPECT_THAT(decode_image(file, "photo"), TensorNear(codec::turn_upright(stored, orientation), 4));
    }
  }
}

// EXIF: 6 is shown upright after a quarter turn clockwise, 8 after one the other way.
TEST(Image, OrientationsSixAndEightAreOppositeQuarterTurns) {
  const Tensor image = noise(3, 4, 6);
  EXPECT_THAT(codec::turn_upright(image, 6), TensorNear(image.rot90(-1, {1, 2}), 0));  // clockwise
  EXPECT_THAT(codec::turn_upright(image, 8), TensorNear(image.rot90(1, {1, 2}), 0));
  EXPECT_THAT(codec::turn_upright(image, 3), TensorNear(image.rot90(2, {1, 2}), 0));
  EXPECT_THAT(codec::turn_upright(codec::turn_upright(image, 5), 5), TensorNear(image, 0));
  EXPECT_THAT(codec::turn_upright(codec::turn_upright(image, 7), 7), TensorNear(image, 0));
}

TEST(Image, BytesAndUnitsAreInverse) {
  const Tensor bytes = torch::arange(256, torch::kUInt8);
  const Tensor unit = to_unit(bytes);
  EXPECT_EQ(unit[0].item<float>(), -1.f);
  EXPECT_EQ(unit[255].item<float>(), 1.f);
  EXPECT_THAT(to_bytes(unit), TensorNear(bytes, 0));
  EXPECT_THAT(to_bytes(torch::tensor({-3.f, 7.f})), TensorNear(torch::tensor({0, 255}), 0));
}

TEST(Image, GreyOfGreyIsItself) {
  const Tensor grey = noise(1, 3, 4);
  EXPECT_THAT(as_grey(as_rgb(grey)), TensorNear(grey, 0));
}

}  // namespace
}  // namespace spnn
