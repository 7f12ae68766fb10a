#include <gtest/gtest.h>
#include <spnn/core/rng.h>
#include <spnn/image/font.h>
#include <spnn/image/grid.h>
#include <spnn/image/image.h>

#include <set>

#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::TensorNear;

TEST(Grid, HoldsEveryImageAtItsPlace) {
  const Tensor images = (Rng(1).uniform({5, 3, 4, 6}) * 256).to(torch::kUInt8);
  const Tensor sheet = grid(images, {.columns = 3, .gap = 2});
  EXPECT_EQ(sheet.sizes(), (std::vector<std::int64_t>{3, 2 * 6 + 2, 3 * 8 + 2}));
  for (std::int64_t i = 0; i < 5; ++i) {
    const std::int64_t y = 2 + i / 3 * 6, x = 2 + i % 3 * 8;
    EXPECT_THAT(sheet.slice(1, y, y + 4).slice(2, x, x + 6), TensorNear(images[i], 0));
  }
  EXPECT_TRUE(sheet.slice(1, 8, 12).slice(2, 18, 26).eq(255).all().item<bool>());  // the empty sixth cell
}

TEST(Grid, TakesFloatsAndGrey) {
  const Tensor images = Rng(2).uniform({1, 1, 3, 3}) * 2 - 1;
  EXPECT_THAT(grid(images, {.gap = 0}), TensorNear(as_rgb(to_bytes(images[0])), 0));
}

TEST(Grid, EnlargesInWholePixels) {
  const Tensor image = (Rng(3).uniform({1, 3, 2, 2}) * 256).to(torch::kUInt8);
  const Tensor sheet = grid(image, {.gap = 0, .scale = 3});
  EXPECT_TRUE(
      sheet.slice(1, 0, 3).slice(2, 3, 6).eq(image[0].slice(1, 0, 1).slice(2, 1, 2)).all().item<bool>());
}

TEST(Grid, CaptionsAddRoomAndInkBelowTheImages) {
  const Tensor images = torch::full({2, 3, 20, 40}, 255, torch::kUInt8);
  const Tensor sheet = grid(images, {.columns = 2, .gap = 0, .captions = {"one\ntwo", ""}});
  EXPECT_EQ(sheet.size(1), 20 + 2 * line_height);
  EXPECT_TRUE(sheet.slice(1, 0, 20).eq(255).all().item<bool>());
  const Tensor ink = sheet.slice(1, 20).eq(0);
  EXPECT_TRUE(ink.slice(2, 0, 40).any().item<bool>());
  EXPECT_FALSE(ink.slice(2, 40).any().item<bool>());  // an empty caption draws nothing
}

TEST(Grid, ALongCaptionStaysUnderItsImage) {
  const Tensor images = torch::full({2, 3, 8, 40}, 255, torch::kUInt8);
  const Tensor sheet = grid(images, {.columns = 2, .gap = 0, .captions = {"a very long caption indeed", ""}});
  EXPECT_TRUE(sheet.slice(2, 40).eq(255).all().item<bool>());
}

TEST(Grid, LabelsStandLeftAndAbove) {
  const Tensor images = torch::full({4, 3, 16, 16}, 200, torch::kUInt8);
  const Tensor sheet =
      grid(images, {.columns = 2, .gap = 1, .row_labels = {"A", "B"}, .column_labels = {"1", "2"}});
  EXPECT_TRUE(sheet.slice(1, 0, line_height).eq(0).any().item<bool>());
  EXPECT_TRUE(sheet.slice(2, 0, text_width("A")).slice(1, line_height).eq(0).any().item<bool>());
}

TEST(Grid, TheWrongNumberOfCaptionsIsAnError) {
  EXPECT_THAT(testing::refusal([] {
                grid(torch::zeros({3, 3, 4, 4}), {.captions = {"one"}});
              }),
              HasSubstr("grid: expected 3 captions, got 1"));
  EXPECT_THAT(testing::refusal([] { grid(torch::zeros({0, 3, 4, 4})); }), HasSubstr("at least one image"));
}

TEST(DrawText, WhatLiesOutsideIsLeftOut) {
  Tensor image = torch::zeros({1, 5, 5}, torch::kUInt8);
  draw_text(image, "MMM", -8, -3, 255);
  draw_text(image, "MMM", 3, 4, 255);
  EXPECT_TRUE(image.eq(255).any().item<bool>());
}

TEST(Font, EveryCharacterHasItsOwnShape) {
  std::set<std::string> shapes;
  for (char c = ' '; c < 127; ++c) {
    std::string shape;
    for (int y = 0; y < font::height; ++y) {
      for (int x = 0; x < font::width; ++x) shape += font::pixel(c, x, y) ? '#' : '.';
    }
    EXPECT_TRUE(shapes.insert(shape).second) << c;
    EXPECT_EQ(shape.find('#') == shape.npos, c == ' ') << c;
  }
}

}  // namespace
}  // namespace spnn
