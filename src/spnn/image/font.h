#pragma once

// A built-in bitmap font for contact sheets and figures: 5 × 9 pixels, ASCII. No font file, no library.

#include <string_view>

namespace spnn::font {

inline constexpr int width = 5, height = 9;

// Is the pixel set? 0 ≤ x < width, 0 ≤ y < height. Characters outside ASCII are a box.
bool pixel(char character, int x, int y);

}  // namespace spnn::font
