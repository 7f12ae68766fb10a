#include <gtest/gtest.h>
#include <spnn/restoration/field.h>

#include "support/correlated_prior.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using testing::CorrelatedPrior;
using testing::TensorNear;

// What DPS and MCG descend, by central differences through prior and operator.
TEST(Gradients, OfDpsAndMcgAgreeWithFiniteDifferences) {
  constexpr Shape shape{1, 4, 4};
  const auto prior = CorrelatedPrior::smooth(shape, 0.1, 0.4, 2);
  for (const std::string spec : {"gamma+sr2", "log+gauss:sigma=0.7", "sr2", "cs:0.5", "aniso:along=0.5,across=0.3"}) {
    const auto g = make_degradation({.spec = spec}, shape);
    const auto y = g.g->forward((Rng(3).uniform({2, 1, 4, 4}, torch::kFloat64) * 2 - 1) * 0.7);
    const Problem p{.prior = prior, .g = g, .y = y, .seeds = ImageSeeds(0, 2)};
    const auto x_t = Rng(4).randn({2, 1, 4, 4}, torch::kFloat64) * 0.5;
    const std::int64_t t = 300;
    const auto distance = [&](const Tensor& x) { return (y - g.g->forward(predict_x0(prior, x, t))).flatten(1).norm(2, 1); };
    auto expected = torch::zeros_like(x_t);
    const double h = 1e-6;
    for (std::int64_t i = 0; i < shape.size(); ++i) {
      auto step = torch::zeros_like(x_t);
      step.flatten(1).select(1, i).fill_(h);
      expected.flatten(1).select(1, i).copy_((distance(x_t + step) - distance(x_t - step)) / (2 * h));
    }
    const auto guided = field::guided_prediction(p, x_t, t, /*clamp=*/false);
    EXPECT_THAT(guided.gradient, TensorNear(expected, 1e-7)) << spec;
    EXPECT_THAT(guided.x0, TensorNear(predict_x0(prior, x_t, t), 1e-12)) << spec;
    EXPECT_FALSE(guided.x0.requires_grad());
  }
}

Tensor by_differences(const Tensor& x, const std::function<Tensor(const Tensor&)>& value) {
  auto gradient = torch::zeros_like(x);
  const double h = 1e-6;
  for (std::int64_t i = 0; i < x.flatten(1).size(1); ++i) {
    auto step = torch::zeros_like(x);
    step.flatten(1).select(1, i).fill_(h);
    gradient.flatten(1).select(1, i).copy_((value(x + step) - value(x - step)) / (2 * h));
  }
  return gradient;
}

// What ΠGDM and nlbp+ pull through the prior, what MPGD and the Langevin steps of DAPS descend, and the loss of RED-diff.
TEST(Gradients, OfTheFieldOfTodayAgreeWithFiniteDifferences) {
  constexpr Shape shape{1, 4, 4};
  const auto prior = CorrelatedPrior::smooth(shape, 0.1, 0.4, 2);
  const auto x = Rng(4).randn({2, 1, 4, 4}, torch::kFloat64) * 0.5, v = Rng(6).randn({2, 1, 4, 4}, torch::kFloat64);
  const std::int64_t t = 300;
  const field::DifferentiablePrediction prediction(prior, x, t, /*clamp=*/false);
  const auto pulled = by_differences(x, [&](const Tensor& at) { return (predict_x0(prior, at, t) * v).flatten(1).sum(1); });
  EXPECT_THAT(prediction.pulled(v), TensorNear(pulled, 1e-7));
  EXPECT_THAT(prediction.pulled(v), TensorNear(pulled, 1e-7)) << "as often as wanted";
  for (const std::string spec : {"gamma+sr2", "sr2", "cs:0.5"}) {
    const auto g = make_degradation({.spec = spec}, shape);
    const auto y = g.g->forward((Rng(3).uniform({2, 1, 4, 4}, torch::kFloat64) * 2 - 1) * 0.7);
    const Problem p{.prior = prior, .g = g, .y = y, .seeds = ImageSeeds(0, 2)};
    const auto half_square = [&](const Tensor& at) { return (y - g.g->forward(at)).flatten(1).square().sum(1) / 2; };
    EXPECT_THAT(-field::back_projected(*g.g, x, y).first, TensorNear(by_differences(x, half_square), 1e-7)) << spec;
    const double a = prior.schedule().alpha_bar(t), lambda = 0.3;
    const auto residual = prior.eps(x * std::sqrt(a) + v * std::sqrt(1 - a), t) - v;   // held fixed
    const double entries = 16.0 / static_cast<double>(y.flatten(1).size(1));
    const auto loss = [&](const Tensor& at) { return lambda * std::sqrt((1 - a) / a) * (residual * at).flatten(1).sum(1) + entries * half_square(at); };
    EXPECT_THAT(field::red_gradient(p, x, v, t, lambda), TensorNear(by_differences(x, loss), 1e-7)) << spec;
  }
}

}  // namespace
}  // namespace spnn
