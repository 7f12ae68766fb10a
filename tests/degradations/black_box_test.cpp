#include <gmock/gmock.h>
#include <spnn/core/rng.h>
#include <spnn/degradations/black_box.h>
#include <spnn/degradations/boxes.h>
#include <spnn/image/image.h>

#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::refusal;
using testing::TensorNear;

constexpr Shape picture{3, 16, 16};

std::string refused(const std::string& spec, const Shape& shape = picture) {
  return refusal([&] { make_black_box(spec, shape); });
}

Tensor row(std::initializer_list<double> values) { return torch::tensor(std::vector<double>(values), torch::kFloat64).view({1, 1, 1, -1}); }

TEST(BlackBox, QuantizeTakesTheNearestOfEvenlySpacedGreys) {
  // Four greys: −1, −1/3, 1/3, 1; the borders between them at −2/3, 0, 2/3.
  const auto y = make_black_box("quantize:2", {1, 1, 6}).D(row({-1, -0.7, -0.6, 0.1, 0.6, 0.7}));
  EXPECT_THAT(y, TensorNear(row({-1, -1, -1.0 / 3, 1.0 / 3, 1.0 / 3, 1}), 1e-12));
  const auto x = to_unit(torch::arange(256).to(torch::kUInt8).view({1, 1, 16, 16}));
  EXPECT_THAT(make_black_box("quantize:8", {1, 16, 16}).D(x), TensorNear(x, 1e-6)) << "bytes are eight bits already";
  EXPECT_EQ(std::get<0>(at::_unique(make_black_box("quantize:4", {1, 16, 16}).D(x))).numel(), 16);
}

TEST(BlackBox, ClipLosesWhatLiesOutside) {
  // 0.25 and 0.75 of [0, 1] are −0.5 and 0.5 of [−1, 1].
  EXPECT_THAT(make_black_box("clip:low=0.25,high=0.75", {1, 1, 4}).D(row({-1, -0.4, 0.4, 0.9})), TensorNear(row({-0.5, -0.4, 0.4, 0.5}), 1e-12));
}

TEST(BlackBox, JpegIsTheCodecAndAGreyPictureOnItsGridSurvives) {
  // A block of one grey g has the DC coefficient 8 (g − 128) and no other. Quality 50 has a step of 16 there: greys apart by 2 survive.
  auto bytes = torch::full({1, 3, 16, 16}, 128 + 2 * 9, torch::kUInt8);
  EXPECT_TRUE(torch::equal(to_bytes(make_black_box("jpeg:50", picture).D(to_unit(bytes))), bytes));
  // Quality 20: the step is 16 · 2.5 = 40, greys apart by 5; 130 is nearer to 128 + 0 than to 133.
  bytes.fill_(130);
  EXPECT_TRUE((to_bytes(make_black_box("jpeg:20", picture).D(to_unit(bytes))) == 128).all().item<bool>());
  const auto noise = (Rng(1).uniform({2, 3, 16, 16}) * 255).to(torch::kUInt8);
  const auto through_file = decode_image(encode_image(noise[1], ".jpg", 20), "test");
  EXPECT_TRUE(torch::equal(to_bytes(make_black_box("jpeg:20", picture).D(to_unit(noise)))[1], through_file));
}

TEST(BlackBox, LensKeepsTheMiddleAndBendsTheRest) {
  // Five columns at u = −1, −½, 0, ½, 1 of a picture that is u itself; in the middle row the pixel at u shows u(1 + k u²), at most 1.
  const auto x = torch::linspace(-1, 1, 5, torch::kFloat64).view({1, 1, 1, 5}).expand({1, 1, 5, 5}).contiguous();
  const auto y = boxes::lens(x, {.k = 0.4});
  EXPECT_THAT(y[0][0][2], TensorNear(torch::tensor({-1.0, -0.55, 0.0, 0.55, 1.0}, torch::kFloat64), 1e-9));
  EXPECT_THAT(boxes::lens(x, {.k = 0}), TensorNear(x, 1e-9));
}

TEST(BlackBox, LensDarkensBlursAndSplitsColoursTowardsTheCorners) {
  const auto white = torch::ones({1, 3, 5, 5}, torch::kFloat64);
  const auto dark = (boxes::lens(white, {.k = 0, .vignette = 0.5}) + 1) / 2;
  EXPECT_NEAR(dark[0][0][2][2].item<double>(), 1, 1e-12);
  EXPECT_NEAR(dark[0][0][2][4].item<double>(), 0.75, 1e-12) << "r² = 1 at the middle of a side";
  EXPECT_NEAR(dark[0][0][0][4].item<double>(), 0.5, 1e-12);
  const auto noise = Rng(1).randn({1, 3, 9, 9}, torch::kFloat64);
  const auto soft = boxes::lens(noise, {.k = 0, .blur = 1});
  EXPECT_NEAR(soft[0][0][4][4].item<double>(), noise[0][0][4][4].item<double>(), 1e-12);
  EXPECT_THAT(boxes::lens(white, {.k = 0, .blur = 1}), TensorNear(white, 1e-12));
  // A picture that is u itself: larger red shows less of it in the same place.
  const auto u = torch::linspace(-1, 1, 5, torch::kFloat64).view({1, 1, 1, 5}).expand({1, 3, 5, 5}).contiguous();
  const auto split = boxes::lens(u, {.k = 0, .chroma = 0.1});
  EXPECT_NEAR(split[0][0][2][3].item<double>(), 0.5 / 1.1, 1e-9);
  EXPECT_NEAR(split[0][1][2][3].item<double>(), 0.5, 1e-9);
  EXPECT_NEAR(split[0][2][2][3].item<double>(), 0.5 / 0.9, 1e-9);
}

TEST(BlackBox, TheCameraSeesOneColourAPixelAndKeepsIt) {
  const boxes::Isp plain{.red = 1, .blue = 1, .gamma = 1, .bits = 8};
  // Columns of 4 pixels: red ramps over columns. Red sensors stand at even columns and rows; between two of them is their mean.
  auto x = torch::full({1, 3, 4, 4}, -1.0, torch::kFloat64);
  x[0][0] = torch::tensor({0., 51., 102., 153.}, torch::kFloat64).view({1, 4}).expand({4, 4}) / 127.5 - 1;
  const auto red = (boxes::isp(x, plain)[0][0] + 1) * 127.5;
  EXPECT_THAT(red[0], TensorNear(torch::tensor({0., 51., 102., 102.}, torch::kFloat64), 1e-9)) << "the last has one neighbour only";
  EXPECT_THAT(red[1], TensorNear(red[0], 1e-9)) << "a row without red sensors is the mean of those beside it";
  // White balance: light of 0.25 at gain 2 is 0.5, with gamma 2 a value of √0.5; green keeps √0.25.
  const auto grey = torch::zeros({1, 3, 4, 4}, torch::kFloat64);
  const auto balanced = boxes::isp(grey, {.red = 2, .blue = 8, .gamma = 2, .bits = 8});
  const auto nearest = [](double w) { return std::round(w * 255) / 255 * 2 - 1; };
  EXPECT_NEAR(balanced[0][0][1][1].item<double>(), nearest(std::sqrt(0.5)), 1e-9);
  EXPECT_NEAR(balanced[0][1][1][1].item<double>(), nearest(0.5), 1e-9);
  EXPECT_NEAR(balanced[0][2][1][1].item<double>(), 1, 1e-9) << "a full well";
}

TEST(BlackBox, ShakeBlursLightAndFillsTheWell) {
  // One white pixel on black, a movement of three pixels to the side: a third of its light in each, (1/3)^(1/2) of its value with gamma 2.
  auto x = torch::full({1, 1, 7, 7}, -1.0, torch::kFloat64);
  x[0][0][3][3] = 1;
  const auto y = (boxes::shake(x, {.length = 3, .angle = 0, .gain = 1, .gamma = 2}) + 1) / 2;
  for (const std::int64_t at : {2, 3, 4}) EXPECT_NEAR(y[0][0][3][at].item<double>(), std::sqrt(1.0 / 3), 1e-9);
  EXPECT_NEAR(y[0][0][3][1].item<double>(), 0, 1e-9);
  EXPECT_NEAR(y[0][0][2][3].item<double>(), 0, 1e-9);
  const auto bright = (boxes::shake(x, {.length = 3, .angle = 0, .gain = 4, .gamma = 2}) + 1) / 2;
  EXPECT_NEAR(bright[0][0][3][3].item<double>(), 1, 1e-9) << "4/3 of what a well holds";
  const auto grey = torch::zeros({1, 3, 8, 8}, torch::kFloat64);
  EXPECT_THAT(boxes::shake(grey, {.gain = 1}), TensorNear(grey, 1e-9)) << "borders are as bright as the middle";
}

TEST(BlackBox, StagesActInOrder) {
  const auto x = row({-0.9, 0.1, 0.4, 0.9});
  const auto both = make_black_box("clip:low=0.5,high=1+quantize:1", {1, 1, 4}).D(x);
  EXPECT_THAT(both, TensorNear(row({-1, 1, 1, 1}), 1e-12)) << "0 of the clipped −0.9 goes to the even of two equally near greys";
}

TEST(BlackBox, SaysWhatWouldDo) {
  for (const auto& info : black_box_catalogue()) EXPECT_EQ(refused(info.name), "") << info.name;
  EXPECT_THAT(refused("jpg:20"), HasSubstr("expected black boxes, jpeg, quantize, clip, isp, lens, shake, got 'jpg:20' (did you mean jpeg?)"));
  EXPECT_THAT(refused("jpeg:0"), HasSubstr("operator jpeg:0: expected quality from 1 to 100, got 0"));
  EXPECT_THAT(refused("jpeg:best"), HasSubstr("expected a number for quality, got 'best'"));
  EXPECT_THAT(refused("quantize:2.5"), HasSubstr("expected a whole number for bits, got 2.5"));
  EXPECT_THAT(refused("quantize:depth=3"), HasSubstr("expected bits=…, got 'depth=3'"));
  EXPECT_THAT(refused("clip:low=0.8,high=0.2"), HasSubstr("expected low below high, got 0.8 and 0.2"));
  EXPECT_THAT(refused("lens:3"), HasSubstr("expected k from -0.3 to 0.5, got 3"));
  EXPECT_THAT(refused("lens:vignette=1"), HasSubstr("expected vignette from 0 to 0.9, got 1"));
  EXPECT_THAT(refused("isp", {1, 16, 16}), HasSubstr("expected a picture of 3 colours and even sides, got 1×16×16"));
  EXPECT_THAT(refusal([] { make_black_box("jpeg", picture).D(torch::zeros({1, 3, 8, 8})); }), HasSubstr("black box"));
}

}  // namespace
}  // namespace spnn
