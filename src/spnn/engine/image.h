#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spnn::engine {

// A picture in memory: rows from the top, samples interleaved (RGBRGB… or grey), one byte each.
struct Image {
  std::int64_t width = 0, height = 0, channels = 3;
  std::vector<std::uint8_t> pixels = {};   // width · height · channels
  bool empty() const { return pixels.empty(); }
};

// A square cut out of a photo, in its pixels (of the upright photo, after EXIF).
struct CropBox {
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;   // right and bottom excluded
};

// A user's picture, from one of three places; the first that is given counts.
struct Photo {
  std::string file = {};                    // a PNG, JPEG or WebP file,
  std::vector<std::uint8_t> encoded = {};   // such a file in memory,
  Image image = {};                         // or pixels
  std::string name = {};                    // for results, errors and output files; empty: the file's stem, else "photo"
  std::optional<CropBox> box = {};          // none: the largest square in the middle
};

}  // namespace spnn::engine
