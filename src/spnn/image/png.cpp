#include <spnn/core/errors.h>
#include <spnn/image/codec.h>

#include <png.h>

#include <cstring>

namespace spnn::codec {
namespace {

// libpng's simplified interface: no setjmp, and it converts every bit depth and palette to 8-bit sRGB.
class Png {
 public:
  Png() {
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
  }
  ~Png() { png_image_free(&image); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

  png_image image;
};

std::string reason_of(const png_image& image) {
  return image.message[0] != '\0' ? image.message : "one that libpng cannot decode";
}

// libpng asks for the memory that a chunk claims before it reads it. One that claims more than the file has is refused here.
void require_chunks_within(EncodedImage file, std::string_view name) {
  constexpr std::size_t signature = 8, before = 8, around = 12;   // length and name of a chunk; with its checksum
  for (std::size_t at = signature; at + before <= file.size();) {
    const auto length = std::size_t{file[at]} << 24 | std::size_t{file[at + 1]} << 16 | std::size_t{file[at + 2]} << 8 | std::size_t{file[at + 3]};
    require(length <= file.size() - at - before, name, "a readable PNG", fmt::format("a chunk of {} bytes in a file of {}", length, file.size()));
    at += around + length;
  }
}

}  // namespace

Tensor decode_png(EncodedImage file, std::string_view name) {
  require_chunks_within(file, name);
  Png png;
  require(png_image_begin_read_from_memory(&png.image, file.data(), file.size()) != 0, name, "a readable PNG",
          reason_of(png.image));
  require_sane_size(png.image.height, png.image.width, file.size(), name);
  const bool colour = (png.image.format & PNG_FORMAT_FLAG_COLOR) != 0;
  png.image.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png.image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // without it 16-bit samples would be taken for linear light
  const Tensor pixels = torch::empty({png.image.height, png.image.width, colour ? 3 : 1}, torch::kUInt8);
  const png_color white = {255, 255, 255};
  require(png_image_finish_read(&png.image, &white, pixels.data_ptr(), 0, nullptr) != 0, name,
          "a readable PNG", reason_of(png.image));   // its warnings (a colour profile, a comment) do not touch the pixels
  return planes(pixels);
}

std::vector<std::uint8_t> encode_png(const Tensor& image) {
  Png png;
  png.image.width = static_cast<png_uint_32>(image.size(2));
  png.image.height = static_cast<png_uint_32>(image.size(1));
  png.image.format = image.size(0) == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  const Tensor pixels = interleaved(image);
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png.image);  // a bound: compresses once, not twice
  std::vector<std::uint8_t> file(size);
  require(png_image_write_to_memory(&png.image, file.data(), &size, 0, pixels.data_ptr(), 0, nullptr) != 0,
          "encode_png", "an image that can be written", reason_of(png.image));
  file.resize(size);
  return file;
}

}  // namespace spnn::codec
