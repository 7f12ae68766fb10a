#include <spnn/core/rng.h>
#include <spnn/kernels/bfloat_convolution.h>
#include <spnn/kernels/convolution.h>
#include <spnn/kernels/exact.h>

#include <torch/csrc/autograd/autograd.h>

#include <gtest/gtest.h>

namespace spnn {
namespace {

struct BfloatShape {
  std::int64_t n, c, h, w, k, kernel;
};

double relative_error(const Tensor& a, const Tensor& b) { return ((a - b).norm() / b.norm()).item<double>(); }

class BfloatProducts : public ::testing::TestWithParam<BfloatShape> {};

// Eight bits of mantissa: a product's relative error is below 2⁻⁸, and errors of a sum's terms mostly cancel.
TEST_P(BfloatProducts, AgreeWithTorchInTheResultAndInEveryGradient) {
  if (!kernels::bfloat_tiles_available()) GTEST_SKIP() << "this CPU has no tile registers";
  const auto s = GetParam();
  const auto x = Rng(1).randn({s.n, s.c, s.h, s.w}).requires_grad_(true);
  const auto w = (Rng(2).randn({s.k, s.c, s.kernel, s.kernel}) * 0.1).requires_grad_(true);
  const auto b = Rng(3).randn({s.k}).requires_grad_(true), dy = Rng(4).randn({s.n, s.k, s.h, s.w});
  const auto gradients = [&](const Tensor& y) { return torch::autograd::grad({y}, {x, w, b}, {dy}); };
  const auto expected = torch::conv2d(x, w, b, 1, s.kernel / 2);
  const auto by_torch = gradients(expected);
  const ScopedBfloatProducts products;
  const auto y = s.kernel == 3 ? conv3x3(x, w, b) : conv1x1(x, w, b);
  const auto by_tiles = gradients(y);
  EXPECT_LT(relative_error(y, expected), 4e-3);
  EXPECT_GT(relative_error(y, expected), 1e-5) << "the float kernel has answered";
  EXPECT_LT(relative_error(by_tiles[0], by_torch[0]), 4e-3);
  EXPECT_LT(relative_error(by_tiles[1], by_torch[1]), 4e-3);
  EXPECT_LT(relative_error(by_tiles[2], by_torch[2]), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Shapes, BfloatProducts,
                         ::testing::Values(BfloatShape{3, 5, 6, 7, 9, 3}, BfloatShape{2, 32, 32, 32, 48, 3},
                                           BfloatShape{9, 70, 4, 4, 33, 3}, BfloatShape{2, 16, 17, 40, 16, 3},
                                           BfloatShape{4, 40, 8, 8, 70, 1}, BfloatShape{1, 3, 64, 64, 17, 3}));

TEST(BfloatProducts, AHalvedMapIsTheStridedConvolution) {
  if (!kernels::bfloat_tiles_available()) GTEST_SKIP() << "this CPU has no tile registers";
  const auto x = Rng(1).randn({2, 8, 12, 10}).requires_grad_(true), w = (Rng(2).randn({6, 8, 3, 3}) * 0.1).requires_grad_(true);
  const auto b = Rng(3).randn({6});
  const auto expected = torch::conv2d(torch::constant_pad_nd(x, {0, 1, 0, 1}), w, b, 2);
  const auto by_torch = torch::autograd::grad({expected.square().sum()}, {x, w});
  const ScopedBfloatProducts products;
  const auto y = conv3x3_halved(x, w, b);
  const auto by_tiles = torch::autograd::grad({y.square().sum()}, {x, w});
  EXPECT_LT(relative_error(y, expected), 4e-3);
  EXPECT_LT(relative_error(by_tiles[0], by_torch[0]), 8e-3);
  EXPECT_LT(relative_error(by_tiles[1], by_torch[1]), 8e-3);
}

TEST(BfloatProducts, WithoutGradientsTheFloatKernelsAnswer) {
  const auto x = Rng(1).randn({2, 8, 8, 8}), w = Rng(2).randn({8, 8, 3, 3}), b = Rng(3).randn({8});
  const auto expected = conv3x3(x, w, b);
  const ScopedBfloatProducts products;
  EXPECT_TRUE(torch::equal(conv3x3(x, w, b), expected));
}

}  // namespace
}  // namespace spnn
