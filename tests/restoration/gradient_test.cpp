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

}  // namespace
}  // namespace spnn
