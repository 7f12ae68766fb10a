#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spnn {

using torch::Tensor;

struct GridOptions {
  std::int64_t columns = 0;  // 0: about as many columns as rows
  std::int64_t gap = 2;      // pixels between images
  std::int64_t scale = 1;    // whole-number enlargement of the images, pixels stay square
  std::vector<std::string> captions =
      {};  // one per image, under it; "\n" starts a new line, long lines are cut with ".."
  std::vector<std::string> row_labels = {};     // left of each row
  std::vector<std::string> column_labels = {};  // above each column
  int background = 255;                         // grey level; text is black on light, white on dark
};

// A contact sheet of images [N, C, H, W] (or N of [C, H, W]), bytes or floats in [−1, 1]: an RGB image [3,
// H', W'].
Tensor grid(const Tensor& images, const GridOptions& options = {});

// Writes into `image` [C, H, W], bytes, from (x, y) on; what lies outside is left out.
void draw_text(Tensor& image, std::string_view text, std::int64_t x, std::int64_t y, int grey, int scale = 1);

std::int64_t text_width(std::string_view text);  // of one line, in pixels
inline constexpr std::int64_t line_height = 11;

}  // namespace spnn
