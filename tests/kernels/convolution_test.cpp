#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/kernels/convolution.h>
#include <spnn/kernels/exact.h>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <support/tensor_near.h>

namespace spnn {
namespace {

using testing::largest_difference;

struct Shape {
  std::int64_t n, c, k, h, w;
};

class Conv3x3 : public ::testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    const auto [n, c, k, h, w] = GetParam();
    x = rng.fork(0).randn({n, c, h, w});
    weight = rng.fork(1).randn({k, c, 3, 3}) / std::sqrt(9.0 * static_cast<double>(c));
    bias = rng.fork(2).randn({k});
    dy = rng.fork(3).randn({n, k, h, w});
  }
  Rng rng{7};
  Tensor x, weight, bias, dy;
};

double relative(const Tensor& a, const Tensor& exact) {
  return largest_difference(a, exact) / exact.abs().max().item<double>();
}

Tensor in_double(const Tensor& t) { return t.detach().to(torch::kFloat64).requires_grad_(); }

TEST_P(Conv3x3, EqualsDirectConvolutionInDouble) {
  torch::NoGradGuard no_grad;
  const Tensor exact = torch::conv2d(x.to(torch::kFloat64), weight.to(torch::kFloat64), bias.to(torch::kFloat64), 1, 1);
  EXPECT_LT(relative(conv3x3(x, weight, bias), exact), 1e-5);
}

TEST_P(Conv3x3, GradientsEqualAutogradInDouble) {
  const Tensor xf = x.clone().requires_grad_(), wf = weight.clone().requires_grad_(), bf = bias.clone().requires_grad_();
  const Tensor xd = in_double(x), wd = in_double(weight), bd = in_double(bias);
  conv3x3(xf, wf, bf).backward(dy);
  torch::conv2d(xd, wd, bd, 1, 1).backward(dy.to(torch::kFloat64));
  EXPECT_LT(relative(xf.grad(), xd.grad()), 1e-5);
  EXPECT_LT(relative(wf.grad(), wd.grad()), 1e-5);
  EXPECT_LT(relative(bf.grad(), bd.grad()), 1e-5);
}

TEST_P(Conv3x3, ImageDoesNotDependOnTheBatch) {
  torch::NoGradGuard no_grad;
  const Tensor y = conv3x3(x, weight, bias);
  for (std::int64_t i = 0; i < x.size(0); ++i)
    EXPECT_TRUE(torch::equal(conv3x3(x.narrow(0, i, 1), weight, bias), y.narrow(0, i, 1))) << "image " << i;
}

TEST_P(Conv3x3, SameBitsTwiceAndWithAnyNumberOfThreads) {
  const int threads = at::get_num_threads();
  std::vector<Tensor> first;
  for (const int count : {2, 2, 1}) {
    at::set_num_threads(count);
    const Tensor xf = x.clone().requires_grad_(), wf = weight.clone().requires_grad_(), bf = bias.clone().requires_grad_();
    const Tensor y = conv3x3(xf, wf, bf);
    y.backward(dy);
    const std::vector<Tensor> results{y.detach(), xf.grad(), wf.grad(), bf.grad()};
    if (first.empty()) first = results;
    for (std::size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(torch::equal(results[i], first[i])) << "result " << i;
  }
  at::set_num_threads(threads);
}

// The same laws for 1×1, for a bias of each image and for a residual.
using Convolve = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Tensor&);

Tensor in_torch(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& residual) {
  return torch::conv2d(x, weight, {}, 1, weight.size(2) / 2) + bias.view({-1, weight.size(0), 1, 1}) + residual;
}

void expect_equal_with_gradients(Convolve convolve, const std::vector<Tensor>& inputs, const Tensor& dy) {
  std::vector<Tensor> f, d;
  for (const Tensor& t : inputs) {
    f.push_back(t.clone().requires_grad_());
    d.push_back(in_double(t));
  }
  const Tensor y = convolve(f[0], f[1], f[2], f[3]), exact = in_torch(d[0], d[1], d[2], d[3]);
  y.backward(dy);
  exact.backward(dy.to(torch::kFloat64));
  EXPECT_LT(relative(y, exact), 1e-5);
  for (std::size_t i = 0; i < f.size(); ++i) EXPECT_LT(relative(f[i].grad(), d[i].grad()), 1e-5) << "gradient " << i;
}

TEST_P(Conv3x3, AddsABiasOfEachImageAndAResidual) {
  const Tensor residual = rng.fork(4).randn(dy.sizes());
  expect_equal_with_gradients(conv3x3, {x, weight, rng.fork(5).randn({x.size(0), weight.size(0)}), residual}, dy);
}

TEST_P(Conv3x3, PointwiseEqualsDirectConvolutionInDouble) {
  const Tensor w = weight.slice(2, 1, 2).slice(3, 1, 2).contiguous(), residual = rng.fork(4).randn(dy.sizes());
  expect_equal_with_gradients(conv1x1, {x, w, bias, residual}, dy);
}

TEST_P(Conv3x3, PointwiseImageDoesNotDependOnTheBatch) {
  torch::NoGradGuard no_grad;
  const Tensor w = weight.slice(2, 1, 2).slice(3, 1, 2).contiguous(), y = conv1x1(x, w, bias);
  for (std::int64_t i = 0; i < x.size(0); ++i)
    EXPECT_TRUE(torch::equal(conv1x1(x.narrow(0, i, 1), w, bias), y.narrow(0, i, 1))) << "image " << i;
}

Tensor doubled(const Tensor& x) { return torch::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)}); }

TEST_P(Conv3x3, OfADoubledMapEqualsThatOfTheEnlargedMapInDouble) {
  const Tensor xd = in_double(x), wd = in_double(weight), bd = in_double(bias), exact = torch::conv2d(doubled(xd), wd, bd, 1, 1);
  {
    torch::NoGradGuard no_grad;
    EXPECT_LT(relative(conv3x3_doubled(x, weight, bias), exact), 1e-5);
  }
  const Tensor xf = x.clone().requires_grad_(), y = conv3x3_doubled(xf, weight, bias), up = doubled(dy);
  y.backward(up);
  exact.backward(up.to(torch::kFloat64));
  EXPECT_LT(relative(xf.grad(), xd.grad()), 1e-5);
}

TEST_P(Conv3x3, OfADoubledMapDependsNeitherOnTheBatchNorOnTheThreads) {
  torch::NoGradGuard no_grad;
  const int threads = at::get_num_threads();
  const Tensor y = conv3x3_doubled(x, weight, bias);
  for (const int count : {1, 2}) {
    at::set_num_threads(count);
    for (std::int64_t i = 0; i < x.size(0); ++i)
      EXPECT_TRUE(torch::equal(conv3x3_doubled(x.narrow(0, i, 1), weight, bias), y.narrow(0, i, 1))) << "image " << i;
  }
  at::set_num_threads(threads);
}

TEST_P(Conv3x3, WithStrideTwoEqualsDirectConvolutionInDouble) {
  torch::NoGradGuard no_grad;
  const Tensor padded = torch::constant_pad_nd(x.to(torch::kFloat64), {0, 1, 0, 1});
  const Tensor exact = torch::conv2d(padded, weight.to(torch::kFloat64), bias.to(torch::kFloat64), 2);
  const Tensor y = conv3x3_halved(x, weight, bias);
  EXPECT_LT(relative(y, exact), 1e-5);
  for (std::int64_t i = 0; i < x.size(0); ++i)
    EXPECT_TRUE(torch::equal(conv3x3_halved(x.narrow(0, i, 1), weight, bias), y.narrow(0, i, 1))) << "image " << i;
}

TEST_P(Conv3x3, PointwiseReadsTwoTensorsAsOne) {
  torch::NoGradGuard no_grad;
  const Tensor w = weight.slice(2, 1, 2).slice(3, 1, 2).contiguous();
  const std::int64_t c = x.size(1);
  for (const std::int64_t split : {(c + 1) / 2, (c + 2) / 3}) {
    const Tensor left = x.narrow(1, 0, split), right = x.narrow(1, split, c - split);   // strided where there is a batch
    EXPECT_TRUE(torch::equal(conv1x1_joined(left, right, w, bias), conv1x1(x, w, bias))) << "split at " << split;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Conv3x3,
                         ::testing::Values(Shape{1, 4, 4, 4, 4}, Shape{2, 16, 16, 8, 8}, Shape{5, 48, 48, 32, 32},
                                           Shape{3, 12, 20, 7, 9}, Shape{1, 33, 65, 13, 5}, Shape{4, 5, 6, 3, 3},
                                           Shape{2, 96, 40, 16, 16}, Shape{1, 192, 64, 4, 4}, Shape{2, 64, 192, 8, 8},
                                           Shape{1, 17, 31, 30, 66}, Shape{5, 24, 112, 10, 6}, Shape{1, 8, 8, 4, 130},
                                           Shape{3, 1, 3, 2, 5}),
                         [](const auto& info) {
                           const Shape& s = info.param;
                           return fmt::format("n{}c{}k{}h{}w{}", s.n, s.c, s.k, s.h, s.w);
                         });

TEST(Conv3x3Choice, DoubleAndSingleRowsAreTorchs) {
  const Rng rng(3);
  for (const auto& [type, h] : {std::pair{torch::kFloat32, 1}, {torch::kFloat64, 8}}) {
    const Tensor x = rng.randn({2, 5, h, 5}, type), weight = rng.randn({3, 5, 3, 3}, type), bias = rng.randn({3}, type);
    EXPECT_TRUE(torch::equal(conv3x3(x, weight, bias), torch::conv2d(x, weight, bias, 1, 1)));
  }
}

TEST(Conv3x3Choice, ExactScopeForcesTheDirectConvolution) {
  const Rng rng(3);
  const Tensor x = rng.randn({1, 16, 12, 12}), weight = rng.randn({16, 16, 3, 3}), bias = rng.randn({16});
  const Tensor direct = torch::conv2d(x, weight, bias, 1, 1), fast = conv3x3(x, weight, bias);
  const ScopedExactKernels exact;
  EXPECT_TRUE(torch::equal(conv3x3(x, weight, bias), direct));
  EXPECT_FALSE(torch::equal(fast, direct));
}

TEST(Conv3x3Choice, StridedInputGivesTheSame) {
  const Rng rng(3);
  const Tensor x = rng.randn({2, 12, 12, 16}).permute({0, 3, 1, 2}), weight = rng.randn({16, 16, 3, 3}), bias = rng.randn({16});
  EXPECT_TRUE(torch::equal(conv3x3(x, weight, bias), conv3x3(x.contiguous(), weight, bias)));
}

// A bias [1, k] of a batch would be read beyond its end.
TEST(Conv3x3Choice, AddendsOfAnotherShapeAreRefused) {
  const Rng rng(3);
  const Tensor x = rng.randn({3, 5, 8, 8}), weight = rng.randn({4, 5, 3, 3}), point = rng.randn({4, 5, 1, 1});
  const auto error = [](const std::function<void()>& act) -> std::string {
    try {
      act();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  const Tensor one_row = rng.randn({1, 4}), narrow = rng.randn({3}), good = rng.randn({4});
  EXPECT_EQ(error([&] { conv3x3(x, weight, one_row); }), "conv3x3: expected a bias [4] or [3, 4], got [1, 4]");
  EXPECT_EQ(error([&] { conv3x3(x, weight, narrow); }), "conv3x3: expected a bias [4] or [3, 4], got [3]");
  EXPECT_EQ(error([&] { conv3x3(x, weight, {}); }), "conv3x3: expected a bias [4] or [3, 4], got none");
  EXPECT_EQ(error([&] { conv1x1(x, point, rng.randn({3, 4})); }), "conv1x1: expected a bias [4], got [3, 4]");
  EXPECT_EQ(error([&] { conv3x3(x, weight, good, rng.randn({1, 4, 8, 8})); }),
            "conv3x3: expected a residual [3, 4, 8, 8], got [1, 4, 8, 8]");
  EXPECT_EQ(error([&] { conv3x3(x, weight, rng.randn({3, 4})); }), "no error");
  EXPECT_EQ(error([&] { conv3x3_doubled(x, weight, narrow); }), "conv3x3_doubled: expected a bias [4], got [3]");
  const Tensor left = x.narrow(1, 0, 2), right = x.narrow(1, 2, 3);
  EXPECT_EQ(error([&] { conv1x1_joined(left, right.narrow(0, 0, 1), point, good); }),
            "conv1x1_joined: expected maps [3, 3, 8, 8], got [1, 3, 8, 8]");
  EXPECT_EQ(error([&] { conv1x1_joined(left, left, point, good); }),
            "conv1x1_joined: expected a weight of 4 channels, got [4, 5, 1, 1]");
  EXPECT_EQ(error([&] { conv1x1_joined(left, right, point, narrow); }), "conv1x1_joined: expected a bias [4], got [3]");
}

TEST(Conv3x3Cache, FollowsInPlaceChangesOfTheWeight) {
  torch::NoGradGuard no_grad;
  const Rng rng(3);
  const Tensor x = rng.randn({1, 16, 12, 12}), weight = rng.randn({16, 16, 3, 3}), bias = rng.randn({16});
  const Tensor y = conv3x3(x, weight, bias);
  weight.mul_(2);
  EXPECT_THAT(conv3x3(x, weight, bias) - bias.view({1, -1, 1, 1}), testing::TensorNear((y - bias.view({1, -1, 1, 1})) * 2, 1e-4));
}

}  // namespace
}  // namespace spnn
