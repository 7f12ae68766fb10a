#include <gtest/gtest.h>
#include <spnn/networks/presets.h>
#include <spnn/projection/nlbp.h>
#include <spnn/projection/spnn_projector.h>

#include "support/laws.h"
#include "support/small_network.h"

namespace spnn {
namespace {

using testing::TensorNear;

struct Choice {
  PseudoInverse pseudo_inverse;
  Metric metric;
};

std::vector<Choice> all_choices() {
  std::vector<Choice> all;
  for (const auto choice : {PseudoInverse::learned, PseudoInverse::origin, PseudoInverse::anchored,
                            PseudoInverse::random, PseudoInverse::min_norm}) {
    for (const auto metric : {Metric::plain, Metric::residual}) all.push_back({choice, metric});
  }
  return all;
}

class ProjectorLaws : public ::testing::TestWithParam<Choice> {
 protected:
  SpnnProjector projector(torch::Dtype type) const {
    return SpnnProjector(testing::small_network(type),
                         {.pseudo_inverse = GetParam().pseudo_inverse, .metric = GetParam().metric, .random_seed = 3});
  }
};

TEST_P(ProjectorLaws, HoldInDoubleAndFloat) {
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    testing::expect_laws(projector(type), testing::small_input(3, type), testing::small_target(3, type),
                         testing::tolerance_of(type));
  }
}

// The few-pass evaluation against the paper's equation evaluated literally, in the projector's own completion.
TEST_P(ProjectorLaws, FewPassesGiveTheLiteralEquation) {
  const torch::NoGradGuard no_grad;
  const auto g = projector(torch::kFloat64);
  const auto x = testing::small_input(3, torch::kFloat64);
  const auto y = testing::small_target(3, torch::kFloat64);
  for (const double lambda : {0.3, 1.0}) {
    EXPECT_THAT(g.nlbp(x, y, lambda), TensorNear(nlbp(g, x, y, lambda), 1e-9));
  }
  const auto other = testing::small_target(3, torch::kFloat64, 77);   // what is kept for y must not serve another
  EXPECT_THAT(g.nlbp(x, other, 1.0), TensorNear(nlbp(g, x, other, 1.0), 1e-9));
}

TEST_P(ProjectorLaws, LambdaIsOnePerImage) {
  const torch::NoGradGuard no_grad;
  const auto g = projector(torch::kFloat64);
  const auto x = testing::small_input(3, torch::kFloat64);
  const auto y = testing::small_target(3, torch::kFloat64);
  const auto lambda = torch::tensor({0.0, 0.4, 1.0}, torch::kFloat64);
  const auto together = g.nlbp(x, y, lambda);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto alone = g.nlbp(x.narrow(0, i, 1), y.narrow(0, i, 1), lambda[i].item<double>());
    EXPECT_THAT(together.narrow(0, i, 1), TensorNear(alone, 1e-11));
  }
  EXPECT_THAT(together[0], TensorNear(x[0], 1e-10)) << "λ = 0 moves nothing";
}

INSTANTIATE_TEST_SUITE_P(EveryChoice, ProjectorLaws, ::testing::ValuesIn(all_choices()), [](const auto& info) {
  std::string name(to_string(info.param.pseudo_inverse));
  std::erase(name, '-');
  return name + "_" + std::string(to_string(info.param.metric));
});

SpnnProjector anchored_residual() {
  return SpnnProjector(testing::small_network(torch::kFloat64),
                       {.pseudo_inverse = PseudoInverse::anchored, .metric = Metric::residual});
}

TEST(Anchored, SendsTheImageOfTheOriginToTheOrigin) {
  const torch::NoGradGuard no_grad;
  const auto g = anchored_residual();
  const auto zero = torch::zeros(g.in_shape().batched(1), torch::kFloat64);
  EXPECT_THAT(g.pinv(g.forward(zero)), TensorNear(zero, 1e-10));
  for (const auto& z : g.complete(zero).z) EXPECT_LE(z.abs().max().item<double>(), 1e-12) << "G_r(0) = [g(0) | 0]";
}

// Definition 4.2: g†(y) minimises ‖G(x) − G(0)‖ over the pre-image of y.
void expect_natural(const SpnnProjector& g) {
  const torch::NoGradGuard no_grad;
  const auto y = testing::small_target(1, torch::kFloat64);
  const auto at_zero = g.complete(torch::zeros(g.in_shape().batched(1), torch::kFloat64));
  const auto distance = [&](const Tensor& x) { return squared_norm(g.complete(x) - at_zero).item<double>(); };
  const auto best = g.pinv(y);
  const double least = distance(best);
  const auto G_best = g.complete(best);
  for (std::uint64_t trial = 0; trial < 30; ++trial) {
    auto perturbed = G_best;   // any other point of the pre-image
    const double size = std::pow(10.0, -3.0 + 3.0 * static_cast<double>(trial) / 29);
    for (std::size_t l = 0; l < perturbed.z.size(); ++l) {
      const auto& z = perturbed.z[l];
      perturbed.z[l] = z + size * Rng(trial).fork(l).randn(z.sizes(), z.options());
    }
    const auto x = g.invert(perturbed);
    EXPECT_THAT(g.forward(x), TensorNear(y, 1e-9)) << "inside the pre-image";
    EXPECT_GT(distance(x), least);
  }
}

TEST(Anchored, IsTheNaturalPseudoInverseOfTheResidualCompletion) { expect_natural(anchored_residual()); }

TEST(Origin, IsTheNaturalPseudoInverseOfThePlainCompletion) {
  expect_natural(SpnnProjector(testing::small_network(torch::kFloat64), {.pseudo_inverse = PseudoInverse::origin, .metric = Metric::plain}));
}

// x' is the orthogonal projection of x onto the pre-image of y: in G_r's coordinates x − x' is perpendicular to every
// curve inside that pre-image.
TEST(ResidualNlbp, IsAnOrthogonalProjection) {
  const torch::NoGradGuard no_grad;
  const auto g = anchored_residual();
  const auto x = testing::small_input(1, torch::kFloat64);
  const auto y = testing::small_target(1, torch::kFloat64);
  const auto projected = g.nlbp(x, y, 1.0);
  const auto G_projected = g.complete(projected);
  const auto difference = g.complete(x) - G_projected;
  const auto inner = [](const Completion& a, const Completion& b) {
    double sum = (a.y * b.y).sum().item<double>();
    for (std::size_t l = 0; l < a.z.size(); ++l) sum += (a.z[l] * b.z[l]).sum().item<double>();
    return sum;
  };
  for (std::uint64_t trial = 0; trial < 10; ++trial) {
    auto moved = G_projected;
    const double h = 1e-4;
    for (std::size_t l = 0; l < moved.z.size(); ++l) {
      moved.z[l] = moved.z[l] + h * Rng(trial).fork(l).randn(moved.z[l].sizes(), moved.z[l].options());
    }
    // A tangent vector of the pre-image, taken in image space and mapped by G_r.
    const auto tangent = (1 / h) * (g.complete(g.invert(moved)) - G_projected);
    EXPECT_NEAR(inner(difference, tangent), 0.0, 1e-6);
    EXPECT_GT(inner(tangent, tangent), 1.0);
  }
}

TEST(ResidualNlbp, LeavesTheNullSpacePartAlone) {
  const torch::NoGradGuard no_grad;
  const auto g = anchored_residual();
  const auto x = testing::small_input(2, torch::kFloat64);
  const auto before = g.complete(x);
  const auto after = g.complete(g.nlbp(x, testing::small_target(2, torch::kFloat64), 0.6));
  for (std::size_t l = 0; l < before.z.size(); ++l) EXPECT_THAT(after.z[l], TensorNear(before.z[l], 1e-10));
}

TEST(PlainNlbp, MovesTheNullSpacePartWhereRIsNotConstant) {
  const torch::NoGradGuard no_grad;
  const auto x = testing::small_input(2, torch::kFloat64);
  const auto y = testing::small_target(2, torch::kFloat64);
  const auto drift = [&](PseudoInverse choice) {
    const SpnnProjector g(testing::small_network(torch::kFloat64), {.pseudo_inverse = choice, .metric = Metric::plain});
    return testing::largest_difference(g.complete(g.nlbp(x, y, 1.0)).z[1], g.complete(x).z[1]);
  };
  EXPECT_LE(drift(PseudoInverse::origin), 1e-10);
  EXPECT_GT(drift(PseudoInverse::learned), 1e-3);
}

TEST(NaiveBackProjection, MissesTheTargetOfANonLinearNetwork) {
  const torch::NoGradGuard no_grad;
  const auto g = anchored_residual();
  const auto x = testing::small_input(2, torch::kFloat64);
  const auto y = testing::small_target(2, torch::kFloat64);
  EXPECT_GT(testing::largest_difference(g.forward(g.naive(x, y)), y), 1e-2);
}

TEST(SpnnProjector, RefusesAPseudoInverseThatTheModelDoesNotHave) {
  const auto net = std::make_shared<Spnn>(spnn_preset("fashion"));
  try {
    SpnnProjector(net, {.pseudo_inverse = PseudoInverse::min_norm});
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "Spnn: expected a set of r nets called 'min_norm', got none in this model");
  }
}

TEST(PseudoInverse, WordsComeBack) {
  for (const auto& choice : all_choices()) {
    EXPECT_EQ(pseudo_inverse_from(to_string(choice.pseudo_inverse)), choice.pseudo_inverse);
    EXPECT_EQ(metric_from(to_string(choice.metric)), choice.metric);
  }
  EXPECT_THROW(pseudo_inverse_from("best"), std::exception);
}

}  // namespace
}  // namespace spnn
