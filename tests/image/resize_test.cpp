#include <gtest/gtest.h>
#include <spnn/core/rng.h>
#include <spnn/image/resize.h>

#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::TensorNear;

TEST(Resize, KeepsConstantImagesAndTypes) {
  const Tensor grey = torch::full({3, 50, 70}, 117, torch::kUInt8);
  EXPECT_THAT(resize(grey, 13, 31), TensorNear(torch::full({3, 13, 31}, 117, torch::kUInt8), 0));
  EXPECT_EQ(resize(grey, 13, 31).scalar_type(), torch::kUInt8);
  EXPECT_EQ(resize(grey.to(torch::kFloat32), 13, 31).scalar_type(), torch::kFloat32);
}

TEST(Resize, ToTheSameSizeIsTheIdentity) {
  const Tensor image = Rng(1).uniform({2, 3, 8, 8});
  EXPECT_THAT(resize(image, 8, 8), TensorNear(image, 0));
}

// Without antialiasing a fine checkerboard would alias to stripes or one colour; with it, it becomes their
// mean.
TEST(Resize, AFineCheckerboardBecomesGrey) {
  const Tensor i = torch::arange(64);
  const Tensor board =
      ((i.view({64, 1}) + i.view({1, 64})).remainder(2) * 255).to(torch::kUInt8).unsqueeze(0);
  const Tensor small = resize(board, 8, 8).to(torch::kFloat32);
  EXPECT_THAT(small, TensorNear(torch::full({1, 8, 8}, 127.5f), 2));
}

TEST(Resize, KeepsTheMean) {
  const Tensor image = Rng(2).uniform({1, 96, 96}, torch::kFloat64);
  EXPECT_NEAR(resize(image, 24, 24).mean().item<double>(), image.mean().item<double>(), 2e-3);
}

TEST(Resize, CommutesWithMirroring) {
  const Tensor image = Rng(3).uniform({3, 40, 30}, torch::kFloat64);
  EXPECT_THAT(resize(image.flip({2}), 16, 16), TensorNear(resize(image, 16, 16).flip({2}), 1e-6));
}

TEST(Crop, TakesThePixelsOfTheBox) {
  const Tensor image = torch::arange(3 * 6 * 5).view({3, 6, 5});
  const Tensor part = crop(image, {.left = 1, .top = 2, .right = 4, .bottom = 6});
  EXPECT_TRUE(part.equal(image.slice(1, 2, 6).slice(2, 1, 4)));
}

TEST(Crop, OutsideTheImageIsAnError) {
  const Tensor image = torch::zeros({3, 6, 5});
  EXPECT_THAT(
      testing::refusal([&] { crop(image, {.left = 0, .top = 0, .right = 6, .bottom = 6}, "photo.png"); }),
      HasSubstr("photo.png: expected a crop inside 5 × 6 pixels (width × height), got (0, 0)–(6, 6)"));
  EXPECT_THROW(crop(image, {.left = 2, .top = 0, .right = 2, .bottom = 6}), Error);
}

TEST(Fit, TakesTheCentreSquare) {
  Tensor image = torch::zeros({1, 10, 20}, torch::kUInt8);
  image.slice(2, 5, 15).fill_(200);
  EXPECT_THAT(fit(image, 4), TensorNear(torch::full({1, 4, 4}, 200, torch::kUInt8), 0));
}

}  // namespace
}  // namespace spnn
