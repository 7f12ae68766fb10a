// The paper's claims about back-projection, each as a test that fails where the claim does.

#include <gtest/gtest.h>
#include <spnn/projection/spnn_projector.h>

#include "support/laws.h"
#include "support/small_network.h"

namespace spnn {
namespace {

using testing::TensorNear;

SpnnProjector projector(PseudoInverse choice, Metric metric) {
  return SpnnProjector(testing::small_network(torch::kFloat64), {.pseudo_inverse = choice, .metric = metric});
}

double inner(const Completion& a, const Completion& b) {
  double sum = (a.y * b.y).sum().item<double>();
  for (std::size_t l = 0; l < a.z.size(); ++l) sum += (a.z[l] * b.z[l]).sum().item<double>();
  return sum;
}

// Another point of the pre-image: the same y, a q moved by `size`.
Completion elsewhere(const Completion& at, double size, std::uint64_t trial) {
  auto out = at;
  for (std::size_t l = 0; l < out.z.size(); ++l) {
    out.z[l] = out.z[l] + size * Rng(trial).fork(l).randn(out.z[l].sizes(), out.z[l].options());
  }
  return out;
}

// The largest cosine, in the coordinates of G, between x − x' and directions inside the pre-image that x' lies in.
double largest_cosine(const SpnnProjector& g, const Tensor& x, const Tensor& y) {
  const auto at = g.complete(g.nlbp(x, y, 1.0));
  const auto difference = g.complete(x) - at;
  double largest = 0;
  for (std::uint64_t trial = 0; trial < 10; ++trial) {
    constexpr double h = 1e-4;
    const auto tangent = (1 / h) * (g.complete(g.invert(elsewhere(at, h, trial))) - at);
    largest = std::max(largest, std::abs(inner(difference, tangent)) / std::sqrt(inner(difference, difference) * inner(tangent, tangent)));
  }
  return largest;
}

// Claim 2 for the plain completion: true where r is constant (Definition 4.2's own g†), untrue for a learned one.
TEST(Claim2, OfThePlainMetricHoldsForTheNaturalPseudoInverseOnly) {
  const torch::NoGradGuard no_grad;
  const auto x = testing::small_input(1, torch::kFloat64);
  const auto y = testing::small_target(1, torch::kFloat64);
  EXPECT_LE(largest_cosine(projector(PseudoInverse::origin, Metric::plain), x, y), 1e-6);
  EXPECT_LE(largest_cosine(projector(PseudoInverse::anchored, Metric::residual), x, y), 1e-6);
  EXPECT_GT(largest_cosine(projector(PseudoInverse::learned, Metric::plain), x, y), 1e-4);
}

// Back-projection is the closest point of the pre-image in the metric of the completion.
TEST(BackProjection, IsTheClosestPointOfThePreImage) {
  const torch::NoGradGuard no_grad;
  const auto x = testing::small_input(1, torch::kFloat64);
  const auto y = testing::small_target(1, torch::kFloat64);
  const auto gain = [&](const SpnnProjector& g) {   // of the best of many other points; below 0: none is closer
    const auto at_x = g.complete(x);
    const auto distance = [&](const Completion& c) { return squared_norm(c - at_x).item<double>(); };
    const auto best = g.complete(g.nlbp(x, y, 1.0));
    EXPECT_THAT(best.y, TensorNear(y, 1e-9));
    double closest = distance({y, at_x.z});         // y with x's own q
    for (std::uint64_t trial = 0; trial < 30; ++trial) {
      closest = std::min(closest, distance(elsewhere(best, std::pow(10.0, -3.0 + 0.1 * static_cast<double>(trial)), trial)));
    }
    return distance(best) - closest;
  };
  EXPECT_LE(gain(projector(PseudoInverse::origin, Metric::plain)), 1e-9);
  EXPECT_LE(gain(projector(PseudoInverse::learned, Metric::residual)), 1e-9);
  EXPECT_GT(gain(projector(PseudoInverse::learned, Metric::plain)), 1e-6) << "a learned r is not the projection of the plain metric";
}

// Coordinate consistency: of g∘φ with the completion G∘φ the natural pseudo-inverse is φ⁻¹∘g†, if φ(0) = 0, and only then.
TEST(CoordinateConsistency, NeedsAnOriginThatStays) {
  const torch::NoGradGuard no_grad;
  const auto g = projector(PseudoInverse::origin, Metric::plain);
  const auto y = testing::small_target(1, torch::kFloat64);
  const auto zero = torch::zeros(g.in_shape().batched(1), torch::kFloat64);
  for (const double shift : {0.0, 0.3}) {
    const auto phi = [&](const Tensor& x) { return torch::sinh(x) + shift; };
    const auto phi_inverse = [&](const Tensor& u) { return torch::asinh(u - shift); };
    const auto at_zero = g.complete(phi(zero));
    const auto distance = [&](const Tensor& x) { return squared_norm(g.complete(phi(x)) - at_zero).item<double>(); };
    const auto candidate = phi_inverse(g.pinv(y));
    EXPECT_THAT(g.forward(phi(candidate)), TensorNear(y, 1e-9));
    const auto natural = phi_inverse(g.invert({y, at_zero.z}));   // the argmin of Definition 4.2, which has the q of φ(0)
    EXPECT_THAT(g.forward(phi(natural)), TensorNear(y, 1e-9));
    if (shift == 0.0) {
      EXPECT_THAT(candidate, TensorNear(natural, 1e-9));
    } else {
      EXPECT_GT(distance(candidate), distance(natural) + 1e-3);
    }
  }
}

// A map that is not onto: probabilities p = σ(g(x)). For y outside of (0, 1) no x has p(x) = y. With y first brought to the nearest value of the
// range, all of Penrose's reflexive identities hold, and p p† is the projection onto the range instead of the identity.
TEST(BoundedMap, HasAPseudoInverseForTargetsThatNoImageHas) {
  const torch::NoGradGuard no_grad;
  const auto g = projector(PseudoInverse::anchored, Metric::residual);
  constexpr double edge = 1e-3;
  const auto p = [&](const Tensor& x) { return torch::sigmoid(g.forward(x)); };
  const auto in_range = [&](const Tensor& y) { return y.clamp(edge, 1 - edge); };
  const auto p_inverse = [&](const Tensor& y) { return g.pinv(torch::logit(in_range(y))); };
  const auto x = testing::small_input(2, torch::kFloat64);
  const auto y = 2 * testing::small_target(2, torch::kFloat64);
  ASSERT_GT(y.max().item<double>(), 1.0);
  ASSERT_LT(y.min().item<double>(), 0.0);
  EXPECT_THAT(p(p_inverse(y)), TensorNear(in_range(y), 1e-9)) << "the nearest value that an image can have";
  EXPECT_GT(testing::largest_difference(p(p_inverse(y)), y), 0.5) << "and not y, which none has";
  EXPECT_THAT(p(p_inverse(p(x))), TensorNear(p(x), 1e-9));
  EXPECT_THAT(p_inverse(p(p_inverse(y))), TensorNear(p_inverse(y), 1e-7));
}

}  // namespace
}  // namespace spnn
