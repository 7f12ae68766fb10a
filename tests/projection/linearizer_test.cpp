#include <gtest/gtest.h>
#include <spnn/operators/dense_operator.h>
#include <spnn/projection/linearizer.h>
#include <spnn/projection/operator_projector.h>
#include <spnn/projection/spnn_projector.h>

#include "support/damage.h"
#include "support/laws.h"
#include "support/small_network.h"

namespace spnn {
namespace {

using testing::TensorNear;

constexpr std::int64_t d = 4;

std::shared_ptr<const BackProjector> network() {
  return std::make_shared<SpnnProjector>(testing::small_network(torch::kFloat64),
                                         SpnnProjectorConfig{.pseudo_inverse = PseudoInverse::anchored, .metric = Metric::residual});
}

AffineMap random_map(std::uint64_t seed) { return {0.6 * Rng(seed).randn({d, d}, torch::kFloat64), Rng(seed + 100).randn({d}, torch::kFloat64)}; }

AffineMap of_rank_two() {
  return AffineMap::linear(Rng(7).randn({d, 2}, torch::kFloat64).matmul(Rng(8).randn({2, d}, torch::kFloat64)));
}

class LinearizerLaws : public ::testing::TestWithParam<Lift> {
 protected:
  Tensor x = testing::small_input(3, torch::kFloat64);
  Linearizer lifted(AffineMap map) const { return {network(), std::move(map), GetParam()}; }
};

TEST_P(LinearizerLaws, PowersAreThoseOfTheMatrix) {
  const auto f = lifted(random_map(1));
  auto repeated = x;
  for (int n = 1; n <= 5; ++n) {
    repeated = f.forward(repeated);
    EXPECT_THAT(f.power(n).forward(x), TensorNear(repeated, 1e-9)) << "n = " << n;
  }
}

TEST_P(LinearizerLaws, ProductsAreThoseOfTheMatrices) {
  const auto f = lifted(random_map(1)), h = lifted(random_map(2));
  EXPECT_THAT(f.after(h).forward(x), TensorNear(f.forward(h.forward(x)), 1e-9));
  EXPECT_GT((f.after(h).forward(x) - h.after(f).forward(x)).abs().max().item<double>(), 1e-2) << "which do not commute";
}

TEST_P(LinearizerLaws, ProjectionsAreIdempotent) {
  const auto V = std::get<0>(torch::linalg_qr(Rng(3).randn({d, 2}, torch::kFloat64)));
  for (const auto& map : {AffineMap::linear(V.matmul(V.t())), AffineMap::setting(d, 1, 3.5)}) {
    const auto f = lifted(map);
    EXPECT_THAT(f.forward(f.forward(x)), TensorNear(f.forward(x), 1e-9));
  }
}

TEST_P(LinearizerLaws, ThePseudoInverseIsReflexive) {
  auto affine = of_rank_two();
  affine.b = Rng(9).randn({d}, torch::kFloat64);
  for (const auto& map : {of_rank_two(), random_map(4), affine}) {
    const auto f = lifted(map), back = f.pinv();
    EXPECT_THAT(f.forward(back.forward(f.forward(x))), TensorNear(f.forward(x), 1e-8)) << "f f⁺ f = f";
    EXPECT_THAT(back.forward(f.forward(back.forward(x))), TensorNear(back.forward(x), 1e-8)) << "f⁺ f f⁺ = f⁺";
  }
}

TEST_P(LinearizerLaws, EditsOfDifferentOutputsCommute) {
  const auto set = lifted(AffineMap::setting(d, 0, 3)), turn = lifted(AffineMap::scaled(d, 2, -1)), dial = lifted(AffineMap::scaled(d, 3, 1.5));
  const auto one = set.forward(turn.forward(dial.forward(x))), other = dial.forward(set.forward(turn.forward(x)));
  EXPECT_THAT(one, TensorNear(other, 1e-9));
  const auto y = network()->forward(one), before = network()->forward(x);
  EXPECT_THAT(y.select(1, 0), TensorNear(torch::full({3}, 3.0, torch::kFloat64), 1e-9));
  EXPECT_THAT(y.select(1, 1), TensorNear(before.select(1, 1), 1e-9)) << "what no edit speaks of stays";
  EXPECT_THAT(y.select(1, 2), TensorNear(-before.select(1, 2), 1e-9));
}

INSTANTIATE_TEST_SUITE_P(BothLifts, LinearizerLaws, ::testing::Values(Lift::pseudo_inverse, Lift::completion),
                         [](const auto& info) { return info.param == Lift::completion ? "Completion" : "PseudoInverse"; });

// Penrose's third and fourth: f f⁺ and f⁺ f are self-adjoint, in the inner product that g induces and not in that of pixels.
TEST(Linearizer, ProductsWithItsPseudoInverseAreSelfAdjointInTheInducedInnerProduct) {
  const auto g = network();
  const Linearizer f(g, of_rank_two());
  const auto x = testing::small_input(1, torch::kFloat64, 3), w = testing::small_input(1, torch::kFloat64, 4);
  const auto induced = [&](const Tensor& a, const Tensor& b) { return (g->forward(a) * g->forward(b)).sum().item<double>(); };
  const auto pixels = [](const Tensor& a, const Tensor& b) { return (a * b).sum().item<double>(); };
  for (const auto& P : {f.after(f.pinv()), f.pinv().after(f)}) {
    EXPECT_NEAR(induced(P.forward(x), w), induced(x, P.forward(w)), 1e-9);
    EXPECT_GT(std::abs(pixels(P.forward(x), w) - pixels(x, P.forward(w))), 1e-3);
  }
}

// The vector space of the Linearizer: x ⊕ w = g†(g(x) + g(w)), c ⊙ x = g†(c g(x)). f is linear there.
TEST(Linearizer, IsLinearInTheInducedVectorSpace) {
  const auto g = network();
  const Linearizer f(g, AffineMap::linear(random_map(5).A));
  const auto x = testing::small_input(2, torch::kFloat64, 3), w = testing::small_input(2, torch::kFloat64, 4);
  const auto combined = [&](const Tensor& a, const Tensor& b) { return g->pinv(2 * g->forward(a) - 0.7 * g->forward(b)); };
  EXPECT_THAT(f.forward(combined(x, w)), TensorNear(combined(f.forward(x), f.forward(w)), 1e-9));
  EXPECT_GT((f.forward(2 * x - 0.7 * w) - (2 * f.forward(x) - 0.7 * f.forward(w))).abs().max().item<double>(), 1e-2) << "and not in pixels";
}

TEST(Linearizer, TheUnitIsAProjectionOrTheIdentity) {
  const auto g = network();
  const auto x = testing::small_input(2, torch::kFloat64);
  EXPECT_THAT(Linearizer(g, AffineMap::identity(d)).forward(x), TensorNear(g->pinv(g->forward(x)), 1e-12));
  EXPECT_THAT(Linearizer(g, AffineMap::identity(d), Lift::completion).forward(x), TensorNear(x, 1e-9));
}

TEST(Linearizer, OfAnInvertibleMatrixAndTheCompletionIsABijection) {
  const Linearizer F(network(), random_map(6), Lift::completion);
  const auto x = testing::small_input(3, torch::kFloat64);
  EXPECT_THAT(F.pinv().forward(F.forward(x)), TensorNear(x, 1e-8));
  EXPECT_THAT(F.forward(F.pinv().forward(x)), TensorNear(x, 1e-8));
}

TEST(Linearizer, OfALinearMapIsTheMatrixBetweenItsInverseAndItself) {
  const auto B = Rng(1).randn({d, 9}, torch::kFloat64);
  const auto g = std::make_shared<const DenseOperator>(B, Shape{9, 1, 1});
  const auto A = random_map(2).A;
  const Linearizer f(std::make_shared<OperatorProjector>(g), AffineMap::linear(A));
  const auto x = Rng(2).randn({3, 9}, torch::kFloat64);
  const auto expected = x.matmul(torch::linalg_pinv(B).matmul(A).matmul(B).t());
  EXPECT_THAT(f.forward(x.view({3, 9, 1, 1})).view({3, 9}), TensorNear(expected, 1e-9));
}

TEST(Cycle, TakesEachColumnToTheNextAndReturns) {
  const auto M = Rng(4).randn({d, d}, torch::kFloat64);
  const auto cycle = cycle_of(M);
  EXPECT_THAT(cycle(M.t()), TensorNear(M.t().roll(-1, 0), 1e-9));
  EXPECT_THAT(cycle.power(d).A, TensorNear(torch::eye(d, torch::kFloat64), 1e-9));
  EXPECT_THAT(cycle.pinv().A, TensorNear(cycle.power(d - 1).A, 1e-9)) << "back is on, d − 1 times";
}

TEST(Linearizer, SaysWhatDoesNotFit) {
  EXPECT_EQ(testing::refusal([] { Linearizer(network(), AffineMap::identity(5)); }), "Linearizer: expected a map of 4 outputs, got one of 5");
  EXPECT_EQ(testing::refusal([] { AffineMap::identity(2).power(-1); }), "AffineMap::power: expected a power of 0 or more (pinv() goes back), got -1");
  EXPECT_EQ(testing::refusal([] { AffineMap::setting(3, 3, 1); }), "AffineMap::scaled: expected an output from 0 to 2, got 3");
}

}  // namespace
}  // namespace spnn
