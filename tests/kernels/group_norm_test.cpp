#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/kernels/group_norm.h>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <support/tensor_near.h>

namespace spnn {
namespace {

using testing::TensorNear;

struct NormShape {
  std::int64_t n, c, groups, h, w;
};

class GroupNormKernel : public ::testing::TestWithParam<std::tuple<NormShape, NormActivation>> {
 protected:
  void SetUp() override {
    const auto& [s, activation] = GetParam();
    x = rng.fork(0).randn({s.n, s.c, s.h, s.w}) * 3 + 10;   // far from 0: Σx² would cancel
    weight = rng.fork(1).randn({s.c}) + 1;
    bias = rng.fork(2).randn({s.c});
    dy = rng.fork(3).randn(x.sizes());
    options = {.groups = s.groups, .eps = 1e-6, .activation = activation};
  }
  Tensor in_double(const Tensor& xd, const Tensor& wd, const Tensor& bd) const {
    const Tensor y = torch::group_norm(xd, options.groups, wd, bd, options.eps);
    return options.activation == NormActivation::silu ? torch::silu(y) : y;
  }
  Rng rng{11};
  Tensor x, weight, bias, dy;
  GroupNormOptions options;
};

Tensor leaf(const Tensor& t, torch::ScalarType type) { return t.detach().to(type, false, true).requires_grad_(); }

TEST_P(GroupNormKernel, EqualsTorchInDoubleWithItsGradients) {
  const Tensor xf = leaf(x, torch::kFloat32), wf = leaf(weight, torch::kFloat32), bf = leaf(bias, torch::kFloat32);
  const Tensor xd = leaf(x, torch::kFloat64), wd = leaf(weight, torch::kFloat64), bd = leaf(bias, torch::kFloat64);
  const Tensor y = group_norm(xf, wf, bf, options), exact = in_double(xd, wd, bd);
  y.backward(dy);
  exact.backward(dy.to(torch::kFloat64));
  EXPECT_THAT(y, TensorNear(exact, 2e-5));
  EXPECT_THAT(xf.grad(), TensorNear(xd.grad(), 2e-5));
  EXPECT_THAT(wf.grad(), TensorNear(wd.grad(), 1e-4 * (1 + wd.grad().abs().max().item<double>())));
  EXPECT_THAT(bf.grad(), TensorNear(bd.grad(), 1e-4 * (1 + bd.grad().abs().max().item<double>())));
}

TEST_P(GroupNormKernel, ReadsTwoTensorsAsOne) {
  torch::NoGradGuard no_grad;
  const Tensor exact = in_double(x.to(torch::kFloat64), weight.to(torch::kFloat64), bias.to(torch::kFloat64));
  const std::int64_t c = x.size(1);
  for (const std::int64_t split : {std::int64_t{1}, c / 2, c - 1}) {   // between groups and inside of one
    const Tensor y = group_norm_joined(x.narrow(1, 0, split), x.narrow(1, split, c - split), weight, bias, options);
    EXPECT_THAT(y, TensorNear(exact, 2e-5)) << "split at " << split;
  }
}

TEST_P(GroupNormKernel, ImageDoesNotDependOnTheBatch) {
  torch::NoGradGuard no_grad;
  const Tensor y = group_norm(x, weight, bias, options);
  for (std::int64_t i = 0; i < x.size(0); ++i)
    EXPECT_TRUE(torch::equal(group_norm(x.narrow(0, i, 1), weight, bias, options), y.narrow(0, i, 1)));
}

TEST_P(GroupNormKernel, SameBitsWithAnyNumberOfThreads) {
  const int threads = at::get_num_threads();
  std::vector<Tensor> first;
  for (const int count : {2, 1}) {
    at::set_num_threads(count);
    const Tensor xf = leaf(x, torch::kFloat32), wf = leaf(weight, torch::kFloat32), bf = leaf(bias, torch::kFloat32);
    const Tensor y = group_norm(xf, wf, bf, options);
    y.backward(dy);
    const std::vector<Tensor> results{y.detach(), xf.grad(), wf.grad(), bf.grad()};
    if (first.empty()) first = results;
    for (std::size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(torch::equal(results[i], first[i])) << "result " << i;
  }
  at::set_num_threads(threads);
}

INSTANTIATE_TEST_SUITE_P(Shapes, GroupNormKernel,
                         ::testing::Combine(::testing::Values(NormShape{2, 32, 32, 8, 8}, NormShape{3, 48, 16, 16, 16},
                                                              NormShape{1, 12, 4, 5, 7}, NormShape{5, 6, 1, 1, 3},
                                                              NormShape{1, 64, 8, 33, 31}),
                                            ::testing::Values(NormActivation::none, NormActivation::silu)));

TEST(GroupNormKernelEdges, LargeValuesSaturateWithoutNan) {
  const Tensor x = torch::tensor({-1.0f, 1.0f, -1.0f, 1.0f}).view({1, 2, 1, 2});
  const Tensor y = group_norm_silu(x, 1, torch::full({2}, 1e6), torch::zeros({2}), 1e-6);
  EXPECT_THAT(y, TensorNear(torch::tensor({0.0f, 1e6f, 0.0f, 1e6f}).view({1, 2, 1, 2}), 1.0));
}

TEST(GroupNormKernelEdges, NamesGroupsThatDoNotDivide) {
  try {
    group_norm(torch::zeros({1, 6, 2, 2}), torch::ones({6}), torch::zeros({6}), {.groups = 4});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "group_norm: expected channels that the groups divide, got 6 channels, 4 groups");
  }
}

TEST(GroupNormKernelEdges, NamesMapsOfDifferentSizes) {
  try {
    group_norm_joined(torch::zeros({2, 4, 2, 2}), torch::zeros({1, 2, 2, 2}), torch::ones({6}), torch::zeros({6}), {.groups = 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "group_norm_joined: expected maps [2, 2, 2, 2], got [1, 2, 2, 2]");
  }
}

}  // namespace
}  // namespace spnn
