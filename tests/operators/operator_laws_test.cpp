#include <gtest/gtest.h>
#include <spnn/operators/catalogue.h>
#include <spnn/operators/cellwise_operator.h>
#include <spnn/operators/circulant_operator.h>
#include <spnn/operators/composed_operator.h>
#include <spnn/operators/dense_operator.h>
#include <spnn/operators/inpainting.h>
#include <spnn/projection/operator_projector.h>

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

// As users name them, on images of 3×8×8.
std::function<OperatorPtr()> named(const char* spec) {
  return [spec] { return make_operator(spec, {3, 8, 8}).g; };
}
OperatorPtr crooked_kernel() {
  return std::make_shared<CirculantOperator>(CirculantConfig{{2, 6, 8}, Rng(5).uniform({3, 4}, torch::kFloat64), 0.05});
}

const std::vector<Case> linear = {
    {"Dense", dense},
    {"AveragePooling", pooling},
    {"AveragePoolingToOnePixel", [] { return std::make_shared<AveragePooling>(Shape{2, 4, 4}, 4); }},
    {"Grey", grey},
    {"Inpainting", inpainting},
    {"Sr", named("sr4")},
    {"Bicubic", named("bicubic2")},
    {"BicubicWithCut", named("bicubic:factor=4,cut=0.3")},
    {"Box", named("box")},
    {"RandomPixels", named("random:keep=0.3,seed=4")},
    {"FreeForm", named("freeform:hole=0.4")},
    {"Gauss", named("gauss:sigma=1")},
    {"Uniform", named("uniform:size=3")},
    {"Anisotropic", named("aniso:along=1,across=0.5,angle=30")},
    {"CrookedKernel", crooked_kernel},
    {"WalshHadamard", named("cs:keep=0.25,seed=3")},
    {"Denoise", named("denoise")},
    {"BlurThenSr", named("gauss:sigma=0.7+sr2")},
    {"BlurThenBicubicThenGrey", named("uniform:size=3+bicubic2+grey")},
    {"GreyThenMask", named("grey+random:0.5")},
    {"SrThenBlur", named("sr2+aniso:along=0.4,across=0.3")},
    {"SrThenSensing", named("sr2+cs:0.5")},
    {"Motion", named("motion:length=3,angle=20")},
    {"Radon", named("radon:angles=4")},
    {"RadonWithMoreRaysThanPixels", named("radon:angles=9,cut=0.1")},
    {"KernelThenSrByADenseMatrix", named("aniso:along=0.5,across=0.3+sr2")},
};
const std::vector<Case> composed = {
    {"GammaThenPooling", [] { return after(gamma_curve(), pooling()); }},
    {"LogThenInpainting", [] { return after(log_curve(), inpainting()); }},
    {"CompandingThenGrey", [] { return after(companding(), grey()); }},
    {"GammaThenDense", [] { return after(gamma_curve(), dense()); }},
    {"SrgbThenBicubic", named("srgb+bicubic2")},
    {"LightThenBlur", named("light+gauss:sigma=0.5")},
    {"KnotsThenSensing", named("curve:knots=0/0;0.3/0.5;1/1+cs:0.5")},
    {"TwoCurves", named("gamma+compand:20+sr2")},
    {"CurveAlone", named("log")},
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
  const OperatorProjector plain(g, Metric::plain), residual(g, Metric::residual);
  const auto lambda = torch::tensor({0.2, 0.7, 1.0}, torch::kFloat64);
  EXPECT_THAT(plain.nlbp(x, y, lambda), TensorNear(residual.nlbp(x, y, lambda), 1e-9));
  EXPECT_THAT(plain.nlbp(x, y, 0.7).narrow(0, 1, 1), TensorNear(plain.nlbp(x, y, lambda).narrow(0, 1, 1), 1e-12));
}

// To the bit, where no dense matrix is applied: files of one seed must not depend on how many were asked for.
TEST(Operators, GiveAnImageTheSameBitsInEveryBatch) {
  for (const auto* spec : {"sr4", "bicubic2", "box", "gauss:1", "uniform:size=3", "aniso:along=1,across=0.5,angle=30", "cs:0.25", "gauss:sigma=0.7+sr2"}) {
    const auto g = make_operator(spec, {1, 32, 32}).g;
    const auto x = random_input(*g, torch::kFloat32), alone = x.slice(0, 1, 2);
    const auto y = g->forward(x);
    EXPECT_TRUE(torch::equal(y.slice(0, 1, 2), g->forward(alone))) << spec;
    EXPECT_TRUE(torch::equal(g->pinv(y).slice(0, 1, 2), g->pinv(g->forward(alone)))) << spec;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOperator, OperatorLaws, ::testing::ValuesIn(all()), name_of);

class LinearOperators : public ::testing::TestWithParam<Case> {};

Tensor pinv_matrix_of(const Operator& g) {
  const auto m = g.out_shape().size();
  return g.pinv(as_interface(torch::eye(m, torch::kFloat64), g.out_shape())).flatten(1).t();
}

TEST_P(LinearOperators, HaveTheMoorePenroseInverseOfTorch) {
  const auto g = GetParam().make();
  const auto A = matrix_of(*g), A_pinv = pinv_matrix_of(*g);
  EXPECT_THAT(A_pinv, TensorNear(torch::linalg_pinv(A, 1e-10), 1e-9)) << "by a dense SVD";
  EXPECT_THAT(A.mm(A_pinv).mm(A), TensorNear(A, 1e-9));
  EXPECT_THAT(A_pinv.mm(A).mm(A_pinv), TensorNear(A_pinv, 1e-9));
  EXPECT_THAT(A.mm(A_pinv), TensorNear(A.mm(A_pinv).t(), 1e-9));
  EXPECT_THAT(A_pinv.mm(A), TensorNear(A_pinv.mm(A).t(), 1e-9));
}

TEST_P(LinearOperators, HaveASingularValueDecomposition) {
  const auto g = std::dynamic_pointer_cast<const LinearOperator>(GetParam().make());
  const auto n = g->in_shape().size(), m = g->out_shape().size();
  const auto V = g->V(torch::eye(n, torch::kFloat64)).flatten(1).t();
  EXPECT_THAT(V.mm(V.t()), TensorNear(torch::eye(n, torch::kFloat64), 1e-9));
  EXPECT_THAT(g->Vt(V.t().reshape(g->in_shape().batched(n))), TensorNear(torch::eye(n, torch::kFloat64), 1e-9));
  const auto A = matrix_of(*g);
  const auto by_torch = std::get<0>(torch::sort(torch::linalg_svdvals(A), 0, true));
  const auto ours = std::get<0>(torch::sort(g->S()[0], 0, true)).narrow(0, 0, std::min(m, n));
  EXPECT_THAT(ours, TensorNear(by_torch, 1e-9));
  const auto y = as_interface(torch::eye(m, torch::kFloat64), g->out_shape());
  EXPECT_THAT(g->adjoint(y).flatten(1), TensorNear(A, 1e-9)) << "⟨Aᵀy, x⟩ = ⟨y, Ax⟩";
  const auto x = random_input(*g, torch::kFloat64);
  EXPECT_THAT(g->null_part(x), TensorNear(x - g->pinv(g->forward(x)), 1e-9));
}

TEST_P(LinearOperators, NlbpIsTheLinearBackProjection) {
  const auto g = GetParam().make();
  const auto x = random_input(*g, torch::kFloat64);
  const auto y = g->forward(random_input(*g, torch::kFloat64, 2));
  for (const double lambda : {0.3, 1.0}) {
    const Tensor expected = x + lambda * g->pinv(y - g->forward(x));
    EXPECT_THAT(nlbp(*g, x, y, lambda), TensorNear(expected, 1e-9));
    EXPECT_THAT(OperatorProjector(g).nlbp(x, y, lambda), TensorNear(expected, 1e-9));
    EXPECT_THAT(naive_back_projection(*g, x, y, lambda), TensorNear(expected, 1e-9));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryLinearOperator, LinearOperators, ::testing::ValuesIn(linear), name_of);

TEST(ComposedOperator, PinvIsTheCoordinateConsistentOne) {
  const auto A = pooling();
  const auto phi = companding();   // φ(0) = 0
  const auto g = after(phi, A);
  const auto y = g->forward(random_input(*g, torch::kFloat64));
  EXPECT_THAT(g->pinv(y), TensorNear(phi->inverse(A->pinv(y)), 1e-12));
  EXPECT_THAT(phi->forward(g->pinv(y)), TensorNear(A->pinv(y), 1e-9)) << "φ∘g† = A†";
}

// Definition 4.2: of all x with g(x) = y the one whose null-space part is that of the zero image.
TEST(ComposedOperator, PinvKeepsTheNullSpacePartOfTheOrigin) {
  for (const auto& phi : {gamma_curve(), log_curve(), companding()}) {
    for (const auto& A : {dense(), pooling(), inpainting()}) {
      const auto g = after(phi, A);
      const auto zero = torch::zeros(in.batched(2), torch::kFloat64);
      EXPECT_THAT(g->pinv(g->forward(zero)), TensorNear(zero, 1e-9)) << "g†(g(0)) = 0";
      const auto y = g->forward(Rng(3).uniform(in.batched(2), torch::kFloat64) * 1.6 - 0.8);
      const auto at = g->complete(g->pinv(y)), origin = g->complete(zero);
      EXPECT_THAT(at.y, TensorNear(y, 1e-9));
      for (std::size_t l = 0; l < at.z.size(); ++l) EXPECT_THAT(at.z[l], TensorNear(origin.z[l], 1e-9));
    }
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
  const std::vector<std::shared_ptr<const ToneCurve>> curves = {
      gamma_curve(), log_curve(), companding(), std::make_shared<SrgbCurve>(true), std::make_shared<SrgbCurve>(false),
      std::make_shared<KnotCurve>(std::vector<std::pair<double, double>>{{0, 0}, {0.3, 0.6}, {1, 1}})};
  for (const auto& phi : curves) {
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
