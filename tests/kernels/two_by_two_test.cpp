#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/kernels/two_by_two.h>

#include <gtest/gtest.h>
#include <support/tensor_near.h>

namespace spnn {
namespace {

using testing::largest_difference;

struct TwoByTwo : ::testing::Test {
  Rng rng{9};
  Tensor x = rng.fork(0).randn({5, 21, 2, 2}), weight = rng.fork(1).randn({13, 21, 3, 3}) / 14, bias = rng.fork(2).randn({13});
  static Tensor in_double(const Tensor& t) { return t.to(torch::kFloat64).detach().requires_grad_(); }
};

TEST_F(TwoByTwo, IsTheConvolution) {
  const auto expected = torch::conv2d(in_double(x), in_double(weight), in_double(bias), 1, 1);
  EXPECT_LT(largest_difference(conv3x3_of_2x2(x, weight, bias), expected), 1e-5);
}

TEST_F(TwoByTwo, HasItsGradients) {
  const auto dy = rng.fork(3).randn({5, 13, 2, 2});
  const Tensor a = x.clone().requires_grad_(), w = weight.clone().requires_grad_(), b = bias.clone().requires_grad_();
  const Tensor ad = in_double(x), wd = in_double(weight), bd = in_double(bias);
  conv3x3_of_2x2(a, w, b).backward(dy);
  torch::conv2d(ad, wd, bd, 1, 1).backward(dy.to(torch::kFloat64));
  EXPECT_LT(largest_difference(a.grad(), ad.grad()), 1e-5);
  EXPECT_LT(largest_difference(w.grad(), wd.grad()), 1e-4);
  EXPECT_LT(largest_difference(b.grad(), bd.grad()), 1e-4);
}

TEST_F(TwoByTwo, AnImageDoesNotDependOnItsBatch) {
  const torch::NoGradGuard no_grad;
  const auto all = conv3x3_of_2x2(x, weight, bias);
  EXPECT_TRUE(torch::equal(conv3x3_of_2x2(x.narrow(0, 3, 1), weight, bias), all.narrow(0, 3, 1)));
}

TEST_F(TwoByTwo, SeesANewWeight) {
  const torch::NoGradGuard no_grad;
  const auto before = conv3x3_of_2x2(x, weight, bias);
  weight.mul_(2);
  EXPECT_GT(largest_difference(conv3x3_of_2x2(x, weight, bias), before), 0.1);
}

TEST_F(TwoByTwo, OtherMapsAreRefused) {
  EXPECT_THROW(conv3x3_of_2x2(torch::zeros({1, 21, 2, 3}), weight, bias), Error);
}

}  // namespace
}  // namespace spnn
