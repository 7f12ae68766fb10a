#pragma once

// Pictures on the wire: PNG out (with a text inside), and what a file says of itself before anybody decodes it.

#include <spnn/engine/image.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spnn::studio {

// A PNG file of 8-bit grey or RGB, with `text` (UTF-8) under the key "spnn" unless it is empty.
std::string png(const engine::Image& image, const std::string& text = "");

std::string base64(std::string_view bytes);

struct FileSize {
  std::string type;  // image/png, image/jpeg, image/webp
  std::int64_t width = 0, height = 0;
};

// The kind of a picture and its size from its first bytes; none for everything else.
std::optional<FileSize> look_at(std::string_view file);

}  // namespace spnn::studio
