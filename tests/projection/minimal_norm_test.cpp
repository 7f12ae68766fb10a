#include <gtest/gtest.h>
#include <spnn/operators/composed_operator.h>
#include <spnn/operators/dense_operator.h>
#include <spnn/projection/minimal_norm.h>
#include <spnn/projection/spnn_projector.h>

#include "support/small_network.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using testing::TensorNear;
const auto in_double = torch::TensorOptions(torch::kFloat64);

// g‡ by its definition, from a fine grid of the line: the nearest values first, then the shortest.
double by_definition(const std::function<Tensor(const Tensor&)>& g, double y) {
  const auto x = torch::linspace(-4, 4, 80001, in_double);
  const auto miss = (g(x) - y).abs();
  const auto best = miss.le(miss.min() + 1e-9);
  return x.masked_select(best).gather(0, x.masked_select(best).abs().argmin(0, true)).item<double>();
}

TEST(MinimalNorm, ClosedFormsAreTheDefinition) {
  const double lambda = 1.0;
  const auto relu = [](const Tensor& x) { return torch::relu(x); };
  const auto soft = [&](const Tensor& x) { return soft_threshold(x, lambda); };
  const auto hard = [&](const Tensor& x) { return hard_threshold(x, lambda); };
  for (const double y : {-2.0, -1.3, -0.7, -0.3, 0.0, 0.2, 0.8, 1.1, 2.5}) {
    const auto at = torch::full({1}, y, in_double);
    EXPECT_NEAR(relu_minimal_norm(at).item<double>(), by_definition(relu, y), 2e-4) << "ReLU at " << y;
    EXPECT_NEAR(soft_threshold_minimal_norm(at, lambda).item<double>(), by_definition(soft, y), 2e-4) << "soft at " << y;
    EXPECT_NEAR(hard_threshold_minimal_norm(at, lambda).item<double>(), by_definition(hard, y), 2e-4) << "hard at " << y;
  }
}

// Every orthant has a start: a gradient that vanishes on one side of a kink hides the other.
std::vector<Tensor> corners(std::int64_t n, double scale) {
  std::vector<Tensor> all;
  for (std::int64_t k = 0; k < (1 << n); ++k) {
    auto x = torch::empty({n}, in_double);
    for (std::int64_t i = 0; i < n; ++i) x[i] = (k >> i & 1) != 0 ? scale : -scale;
    all.push_back(x);
  }
  return all;
}

TEST(MinimalNorm, OptimisationFindsTheClosedForms) {
  const auto starts = corners(3, 3.0);
  const auto y_relu = torch::tensor({0.7, 0.0, 1.9}, in_double), y = torch::tensor({0.7, -0.4, 1.9}, in_double);
  const auto y_hard = torch::tensor({1.7, -1.4, 2.9}, in_double);
  const auto relu = minimal_norm_inverse([](const Tensor& x) { return torch::relu(x); }, y_relu, {3}, {.penalty = 1e3, .starts = 0}, starts);
  EXPECT_TRUE(relu.converged);
  EXPECT_THAT(relu.x, TensorNear(relu_minimal_norm(y_relu), 1e-6));
  const auto soft = minimal_norm_inverse([](const Tensor& x) { return soft_threshold(x, 1.0); }, y, {3}, {.penalty = 1e3, .starts = 0}, starts);
  EXPECT_TRUE(soft.converged);
  EXPECT_THAT(soft.x, TensorNear(soft_threshold_minimal_norm(y, 1.0), 1e-6));
  const auto hard = minimal_norm_inverse([](const Tensor& x) { return hard_threshold(x, 1.0); }, y_hard, {3}, {.penalty = 1e3, .starts = 0}, starts);
  EXPECT_TRUE(hard.converged);
  EXPECT_THAT(hard.x, TensorNear(hard_threshold_minimal_norm(y_hard, 1.0), 1e-6));
}

TEST(MinimalNorm, IsMoorePenroseAndTheNaturalInverseForALinearMap) {
  const auto A = Rng(1).randn({3, 8}, in_double);
  const DenseOperator g(A, {8, 1, 1});
  const auto y = Rng(2).randn({1, 3}, in_double);
  const auto found = minimal_norm_inverse([&](const Tensor& x) { return torch::linear(x, A); }, y, {1, 8});
  EXPECT_TRUE(found.converged);
  EXPECT_THAT(found.x, TensorNear(torch::linear(y, torch::linalg_pinv(A)), 1e-7));
  EXPECT_THAT(found.x, TensorNear(g.pinv(y).flatten(1), 1e-7));
}

TEST(MinimalNorm, PartsFromTheNaturalInverseUnderAChangeOfCoordinates) {
  const auto A = Rng(1).randn({3, 8}, in_double);
  const auto phi = std::make_shared<CompandingCurve>(5.0);
  const ComposedOperator g(std::make_shared<DenseOperator>(A, Shape{8, 1, 1}), phi);
  const auto y = Rng(2).randn({1, 3}, in_double);
  const auto map = [&](const Tensor& x) { return torch::linear(phi->forward(x), A); };
  const auto found = minimal_norm_inverse(map, y, {1, 8}, {.tolerance = 1e-8});
  const auto natural = g.pinv(y).flatten(1);
  ASSERT_TRUE(found.converged);
  EXPECT_THAT(map(natural), TensorNear(y, 1e-9)) << "both are pre-images";
  EXPECT_LT(found.norm, natural.norm().item<double>() * 0.9995) << "the minimal one is shorter in x";
  EXPECT_GT(phi->forward(found.x).norm().item<double>(), phi->forward(natural).norm().item<double>() * 1.0005)
      << "the natural one is shorter in φ(x), the coordinates of its completion";
}

TEST(MinimalNorm, OfANetworkIsNoLongerThanAnyOfItsPseudoInverses) {
  const auto net = testing::small_network(torch::kFloat64);
  for (const auto& parameter : net->parameters()) Tensor(parameter).requires_grad_(false);
  const auto y = net->forward(testing::small_input(1, torch::kFloat64));
  const SpnnProjector natural(net, {.pseudo_inverse = PseudoInverse::origin});
  const auto start = natural.pinv(y);
  const auto found = minimal_norm_inverse([&](const Tensor& x) { return net->forward(x); }, y, {1, 2, 4, 4},
                                          {.tolerance = 1e-7, .starts = 1}, {start});
  EXPECT_TRUE(found.converged) << found.residual;
  EXPECT_LT(found.norm, start.norm().item<double>());
  EXPECT_LT(found.norm, net->pinv(y).norm().item<double>());
}

}  // namespace
}  // namespace spnn
