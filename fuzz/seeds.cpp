// Pictures to begin with, by our own encoders: valid, small, of every kind.

#include <spnn/core/io.h>
#include <spnn/image/image.h>

#include "fuzz.h"

namespace spnn::fuzz {

void write_picture_seeds(const std::filesystem::path& folder) {
  const auto write = [&](const std::string& target, const std::string& name, const std::string& extension, const torch::Tensor& image) {
    std::filesystem::create_directories(folder / target);
    const auto bytes = encode_image(image, extension);
    write_atomically(folder / target / name, std::as_bytes(std::span(bytes)));
  };
  for (const int channels : {1, 3}) {
    for (const int side : {1, 9, 24}) {
      const auto ramp = torch::arange(channels * side * side, torch::kInt64).remainder(251).to(torch::kUInt8).view({channels, side, side});
      const auto name = std::to_string(channels) + "x" + std::to_string(side);
      write("png", name, ".png", ramp);
      write("jpeg", name, ".jpg", ramp);
      write("webp", name, ".webp", ramp);
    }
  }
}

}  // namespace spnn::fuzz
