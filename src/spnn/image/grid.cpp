#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/image/font.h>
#include <spnn/image/grid.h>
#include <spnn/image/image.h>

#include <algorithm>
#include <cmath>

namespace spnn {
namespace {

constexpr std::int64_t advance = font::width + 1;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == text.npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string cut(std::string_view line, std::int64_t width) {
  const auto room = static_cast<std::size_t>(std::max<std::int64_t>(2, (width + 1) / advance));
  return line.size() <= room ? std::string(line) : std::string(line.substr(0, room - 2)) + "..";
}

// Where everything goes: labels above and to the left, each cell an image with its caption under it.
class Sheet {
 public:
  Sheet(const Tensor& images, const GridOptions& options) : options_(options), images_(images) {
    count_ = images.size(0);
    columns_ = options.columns > 0 ? std::min(options.columns, count_)
                                   : static_cast<std::int64_t>(std::ceil(std::sqrt(double(count_))));
    rows_ = (count_ + columns_ - 1) / columns_;
    for (const auto& caption : options.captions) {
      caption_lines_ = std::max(caption_lines_, static_cast<std::int64_t>(lines_of(caption).size()));
    }
    for (const auto& label : options.row_labels) left_ = std::max(left_, text_width(label) + advance);
    top_ = options.column_labels.empty() ? 0 : line_height;
    cell_width_ = images.size(3) * options.scale + options.gap;
    cell_height_ = images.size(2) * options.scale + options.gap + caption_lines_ * line_height;
    check();
  }

  Tensor draw() const {
    Tensor sheet = torch::full(
        {3, top_ + rows_ * cell_height_ + options_.gap, left_ + columns_ * cell_width_ + options_.gap},
        options_.background, torch::kUInt8);
    const int ink = options_.background >= 128 ? 0 : 255;
    const std::int64_t room = cell_width_ - options_.gap;
    for (std::int64_t i = 0; i < count_; ++i) {
      const std::int64_t x = left_ + options_.gap + i % columns_ * cell_width_;
      const std::int64_t y = top_ + options_.gap + i / columns_ * cell_height_;
      const Tensor image =
          as_rgb(images_[i]).repeat_interleave(options_.scale, 1).repeat_interleave(options_.scale, 2);
      sheet.slice(1, y, y + image.size(1)).slice(2, x, x + image.size(2)).copy_(image);
      if (options_.captions.empty()) continue;
      std::int64_t below = y + image.size(1) + 1;
      for (const auto line : lines_of(options_.captions[static_cast<std::size_t>(i)])) {
        draw_text(sheet, cut(line, room), x, below, ink);
        below += line_height;
      }
    }
    draw_labels(sheet, ink, room);
    return sheet;
  }

 private:
  void draw_labels(Tensor& sheet, int ink, std::int64_t room) const {
    for (std::size_t c = 0; c < options_.column_labels.size(); ++c) {
      draw_text(sheet, cut(options_.column_labels[c], room),
                left_ + options_.gap + std::int64_t(c) * cell_width_, 1, ink);
    }
    const std::int64_t middle = (images_.size(2) * options_.scale - line_height) / 2;
    for (std::size_t r = 0; r < options_.row_labels.size(); ++r) {
      draw_text(sheet, options_.row_labels[r], 2,
                top_ + options_.gap + std::int64_t(r) * cell_height_ + middle, ink);
    }
  }

  void check() const {
    const auto fits = [](const auto& labels, std::int64_t wanted, std::string_view what) {
      require(labels.empty() || static_cast<std::int64_t>(labels.size()) == wanted, "grid",
              fmt::format("{} {}", wanted, what), std::to_string(labels.size()));
    };
    fits(options_.captions, count_, "captions");
    fits(options_.row_labels, rows_, "row labels");
    fits(options_.column_labels, columns_, "column labels");
  }

  const GridOptions& options_;
  Tensor images_;
  std::int64_t count_ = 0, columns_ = 0, rows_ = 0, caption_lines_ = 0;
  std::int64_t left_ = 0, top_ = 0, cell_width_ = 0, cell_height_ = 0;
};

}  // namespace

Tensor grid(const Tensor& images, const GridOptions& options) {
  const Tensor batch = images.dim() == 3 ? images.unsqueeze(0) : images;
  require(batch.dim() == 4 && batch.size(0) > 0 && (batch.size(1) == 1 || batch.size(1) == 3), "grid",
          "at least one image, [N, 1 or 3, H, W]", to_string(images.sizes()));
  require(options.scale >= 1 && options.gap >= 0 && options.columns >= 0, "grid",
          "a scale from 1, gap and columns from 0",
          fmt::format("{}, {} and {}", options.scale, options.gap, options.columns));
  require(options.background >= 0 && options.background <= 255, "grid", "a background from 0 to 255",
          std::to_string(options.background));
  const Tensor bytes = batch.scalar_type() == torch::kUInt8 ? batch : to_bytes(batch.detach());
  return Sheet(bytes.to(torch::kCPU), options).draw();
}

void draw_text(Tensor& image, std::string_view text, std::int64_t x, std::int64_t y, int grey, int scale) {
  auto pixels = image.accessor<std::uint8_t, 3>();
  for (const char character : text) {
    for (std::int64_t row = std::max<std::int64_t>(0, -y);
         row < font::height * scale && y + row < pixels.size(1); ++row) {
      for (std::int64_t column = std::max<std::int64_t>(0, -x);
           column < font::width * scale && x + column < pixels.size(2); ++column) {
        if (!font::pixel(character, int(column) / scale, int(row) / scale)) continue;
        for (std::int64_t c = 0; c < pixels.size(0); ++c)
          pixels[c][y + row][x + column] = static_cast<std::uint8_t>(grey);
      }
    }
    x += advance * scale;
  }
}

std::int64_t text_width(std::string_view text) {
  return static_cast<std::int64_t>(text.size()) * advance;
}

}  // namespace spnn
