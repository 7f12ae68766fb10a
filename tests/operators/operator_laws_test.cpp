#include <gtest/gtest.h>
#include <spnn/operators/cellwise_operator.h>
#include <spnn/operators/composed_operator.h>
#include <spnn/operators/dense_operator.h>
#include <spnn/operators/inpainting.h>
#include <spnn/projection/map_projector.h>

#include <functional>

#include "support/laws.h"

namespace spnn {
namespace {

using testing::TensorNear;
using OperatorPtr = std::shared_ptr<const Operator>;

constexpr Shape in{3, 4, 8};

OperatorPtr dense() { return std::make_shared<DenseOperator>(Rng(9).randn({7, in.size()}, torch::kFloat64), in); }
OperatorPtr pooling() { return std::make_shared<AveragePooling>(in, 2); }
OperatorPtr grey() { return std::make_shared<Grey>(in); }
OperatorPtr inpainting() { return std::make_shared<Inpainting>(Rng(8).uniform({4, 8}) < 0.6, in); }
OperatorPtr after(std::shared_ptr<const ToneCurve> phi, const OperatorPtr& A) {
  return std::make_shared<ComposedOperator>(A, std::move(phi));
}
std::shared_ptr<const ToneCurve> gamma_curve() { return std::make_shared<GammaCurve>(1 / 2.2); }
std::shared_ptr<const ToneCurve> log_curve() { return std::make_shared<LogCurve>(); }
std::shared_ptr<const ToneCurve> companding() { return std::make_shared<CompandingCurve>(20.0); }

struct Case {
  const char* name;
  std::function<OperatorPtr()> make;
};

const std::vector<Case> linear = {
    {"Dense", dense},
    {"AveragePooling", pooling},
    {"AveragePoolingToOnePixel", [] { return std::make_shared<AveragePooling>(Shape{2, 4, 4}, 4); }},
    {"Grey", grey},
    {"Inpainting", inpainting},
};
const std::vector<Case> composed = {
    {"GammaThenPooling", [] { return after(gamma_curve(), pooling()); }},
    {"LogThenInpainting", [] { return after(log_curve(), inpainting()); }},
    {"CompandingThenGrey", [] { return after(companding(), grey()); }},
    {"GammaThenDense", [] { return after(gamma_curve(), dense()); }},
};

std::vector<Case> all() {
  auto cases = linear;
  cases.insert(cases.end(), composed.begin(), composed.end());
  return cases;
}

const auto name_of = [](const auto& info) { return std::string(info.param.name); };

Tensor random_input(const Operator& g, torch::Dtype type, std::uint64_t seed = 1) {
  return Rng(seed).uniform(g.in_shape().batched(3), type) * 2 - 1;
}

class OperatorLaws : public ::testing::TestWithParam<Case> {};

TEST_P(OperatorLaws, HoldInDoubleAndFloat) {
  const auto g = GetParam().make();
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    testing::expect_laws(*g, random_input(*g, type), g->forward(random_input(*g, type, 2)), testing::tolerance_of(type));
  }
}

TEST_P(OperatorLaws, BothMetricsAgreeBecauseTheDiscardedPartOfThePseudoInverseIsConstant) {
  const auto g = GetParam().make();
  const auto x = random_input(*g, torch::kFloat64);
  const auto y = g->forward(random_input(*g, torch::kFloat64, 2));
  const MapProjector<Operator> plain(g, Metric::plain), residual(g, Metric::residual);
  const auto lambda = torch::tensor({0.2, 0.7, 1.0}, torch::kFloat64);
  EXPECT_THAT(plain.nlbp(x, y, lambda), TensorNear(residual.nlbp(x, y, lambda), 1e-9));
  EXPECT_THAT(plain.nlbp(x, y, 0.7).narrow(0, 1, 1), TensorNear(plain.nlbp(x, y, lambda).narrow(0, 1, 1), 1e-12));
}

INSTANTIATE_TEST_SUITE_P(EveryOperator, OperatorLaws, ::testing::ValuesIn(all()), name_of);

class LinearOperators : public ::testing::TestWithParam<Case> {};

// The matrix of a linear operator, column by column.
Tensor matrix_of(const Operator& g) {
  const auto n = g.in_shape().size();
  return g.forward(torch::eye(n, torch::kFloat64).reshape(g.in_shape().batched(n))).flatten(1).t();
}

TEST_P(LinearOperators, HaveTheMoorePenroseInverseOfTorch) {
  const auto g = GetParam().make();
  const auto m = g->out_shape().size();
  const auto unit = torch::eye(m, torch::kFloat64);
  const auto y = g->out_shape().height * g->out_shape().width == 1 ? unit : unit.reshape(g->out_shape().batched(m));
  EXPECT_THAT(g->pinv(y).flatten(1).t(), TensorNear(torch::linalg_pinv(matrix_of(*g), 1e-12), 1e-9));
}

TEST_P(LinearOperators, NlbpIsTheLinearBackProjection) {
  const auto g = GetParam().make();
  const auto x = random_input(*g, torch::kFloat64);
  const auto y = g->forward(random_input(*g, torch::kFloat64, 2));
  for (const double lambda : {0.3, 1.0}) {
    const Tensor expected = x + lambda * g->pinv(y - g->forward(x));
    EXPECT_THAT(nlbp(*g, x, y, lambda), TensorNear(expected, 1e-9));
    EXPECT_THAT(MapProjector<Operator>(g).nlbp(x, y, lambda), TensorNear(expected, 1e-9));
    EXPECT_THAT(naive_back_projection(*g, x, y, lambda), TensorNear(expected, 1e-9));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryLinearOperator, LinearOperators, ::testing::ValuesIn(linear), name_of);

TEST(ComposedOperator, PinvIsTheCoordinateConsistentOne) {
  const auto A = pooling();
  for (const auto& phi : {gamma_curve(), log_curve(), companding()}) {
    const auto g = after(phi, A);
    const auto y = g->forward(random_input(*g, torch::kFloat64));
    EXPECT_THAT(g->pinv(y), TensorNear(phi->inverse(A->pinv(y)), 1e-12));
    EXPECT_THAT(phi->forward(g->pinv(y)), TensorNear(A->pinv(y), 1e-9)) << "φ∘g† = A†";
  }
}

TEST(ComposedOperator, NaiveBackProjectionMissesTheTarget) {
  const auto g = after(gamma_curve(), pooling());
  const auto x = random_input(*g, torch::kFloat64);
  const auto y = g->forward(random_input(*g, torch::kFloat64, 2));
  EXPECT_GT(testing::largest_difference(g->forward(naive_back_projection(*g, x, y)), y), 1e-3);
  EXPECT_LT(testing::largest_difference(g->forward(nlbp(*g, x, y)), y), 1e-9);
}

TEST(ToneCurve, IsADiffeomorphismOfTheWholeLine) {
  const auto x = torch::linspace(-3, 3, 601, torch::kFloat64);
  for (const auto& phi : {gamma_curve(), log_curve(), companding()}) {
    const auto y = phi->forward(x);
    EXPECT_THAT(phi->inverse(y), TensorNear(x, 1e-9));
    EXPECT_GT(torch::diff(y).min().item<double>(), 0) << "increasing";
    const auto ends = torch::tensor({-1.0, 1.0}, torch::kFloat64);
    EXPECT_THAT(phi->forward(ends), TensorNear(ends, 1e-12));
  }
}

TEST(DenseOperator, RefusesAMatrixThatIsNotOnto) {
  auto A = Rng(1).randn({3, 12}, torch::kFloat64);
  A[2] = A[0] + A[1];
  try {
    DenseOperator(A, {3, 2, 2});
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("DenseOperator: expected full row rank, got singular values from"));
  }
}

TEST(Inpainting, RefusesMasksThatDiscardNothing) {
  EXPECT_THROW(Inpainting(torch::ones({4, 8}), in), std::exception);
  EXPECT_THROW(Inpainting(torch::zeros({4, 8}), in), std::exception);
  EXPECT_THROW(Inpainting(torch::ones({8, 4}), in), std::exception);
}

}  // namespace
}  // namespace spnn
