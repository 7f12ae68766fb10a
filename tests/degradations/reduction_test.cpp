#include <gmock/gmock.h>
#include <spnn/core/rng.h>
#include <spnn/degradations/degradation_network.h>
#include <spnn/degradations/reduction.h>

#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::refusal;
using testing::TensorNear;

constexpr Shape reduced{3, 16, 16};

Tensor noise(std::int64_t count = 2) { return Rng(5).randn({count, 3, 16, 16}, torch::kFloat64); }

TEST(Reduction, HasOrthonormalRowsSoThatItsTransposeIsItsPseudoInverse) {
  for (const auto* spec : {"pool:2", "pool:4", "dct:luma=28,chroma=6", "dct:luma=3,chroma=1,block=4"}) {
    const Reduction T(spec, reduced);
    const auto n = T.basis().size(0);
    EXPECT_THAT(T.basis().matmul(T.basis().t()), TensorNear(torch::eye(n, torch::kFloat64), 1e-12)) << spec;
    const auto y = T.forward(noise());
    EXPECT_EQ(y.sizes().slice(1), torch::IntArrayRef({T.kept(), 16 / T.cell(), 16 / T.cell()})) << spec;
    EXPECT_THAT(T.forward(T.picture(y)), TensorNear(y, 1e-12)) << spec;
    const auto x = noise();
    EXPECT_NEAR((T.forward(x) * y).sum().item<double>(), (x * T.picture(y)).sum().item<double>(), 1e-9) << "adjoint, " << spec;
  }
}

TEST(Reduction, PoolIsTheMeanOfACellTimesItsSideButForSigns) {
  const Reduction T("pool:2", reduced);
  EXPECT_EQ(T.kept(), 3);
  EXPECT_THAT(T.forward(noise()).abs(), TensorNear((torch::avg_pool2d(noise(), 2) * 2).abs(), 1e-12));
}

TEST(Reduction, TheFirstOfDctIsTheMeanLumaAndALumaWaveIsOneEntry) {
  const Reduction T("dct:luma=28,chroma=6", reduced);
  const auto luma = torch::tensor({0.299, 0.587, 0.114}, torch::kFloat64);
  const auto mean = torch::avg_pool2d((noise() * luma.view({1, 3, 1, 1})).sum(1, true), 8) * (8 / luma.norm().item<double>());
  EXPECT_THAT(T.forward(noise()).slice(1, 0, 1).abs(), TensorNear(mean.abs(), 1e-12));
  // cos(π(p + ½)/8) across every block, in the direction of luma.
  const auto wave = torch::cos((torch::arange(8, torch::kFloat64) + 0.5) * (M_PI / 8)).repeat({2}).view({1, 1, 1, 16});
  const auto y = T.forward((luma.view({1, 3, 1, 1}) * wave).expand({1, 3, 16, 16}).contiguous());
  const auto size = y.abs().amax({0, 2, 3});
  EXPECT_EQ((size > 1e-9).sum().item<int>(), 1);
  EXPECT_GT(size[1].item<double>(), 1) << "second in zigzag order";
}

TEST(Reduction, BasisCanBeReachedByCayley) {
  for (const auto* spec : {"pool:2", "pool:4", "dct:luma=28,chroma=6", "dct:luma=48,chroma=24"}) {
    const Tensor Q = Reduction(spec, reduced).basis();
    const auto B = cayley_weights(Q), I = torch::eye(Q.size(0), torch::kFloat64), A = B - B.t();
    EXPECT_THAT(torch::linalg_solve(I + A, I - A, true), TensorNear(Q, 1e-9)) << spec;
    EXPECT_LT(A.abs().max().item<double>(), 100) << "float weights will do, " << spec;
  }
}

TEST(Reduction, RefusesWhatCannotBe) {
  const auto refused = [](const std::string& spec) { return refusal([&] { Reduction(spec, reduced); }); };
  EXPECT_THAT(refused("haar:2"), HasSubstr("keep: expected dct:luma=28,chroma=6 or pool:2, got 'haar:2'"));
  EXPECT_THAT(refused("pool:3"), HasSubstr("expected cells of 2 pixels or more that divide 16 × 16, got 3"));
  EXPECT_THAT(refused("dct:luma=65"), HasSubstr("expected 0 to 64 frequencies"));
  EXPECT_THAT(refused("dct:luma=64,chroma=64"), HasSubstr("fewer than all 192, got 192"));
  EXPECT_THAT(refused("dct:luma=0,chroma=0"), HasSubstr("expected some frequencies"));
}

TEST(DegradationNetwork, BeginsAsTheReductionItself) {
  for (const auto* spec : {"pool:2", "dct:luma=28,chroma=6"}) {
    const Reduction T(spec, reduced);
    Spnn net(degradation_network(T, {.hidden = 8, .r_hidden = 8}));
    start_at(net, T, Rng(1));
    const torch::NoGradGuard no_grad;
    const auto x = noise().to(torch::kFloat32);
    EXPECT_EQ(net.out_shape(), T.out_shape());
    EXPECT_THAT(net.forward(x), TensorNear(T.forward(x), 1e-4)) << spec;
    EXPECT_THAT(net.pinv(T.forward(x)), TensorNear(T.picture(T.forward(x)), 1e-4)) << "and g† as T†, " << spec;
  }
}

}  // namespace
}  // namespace spnn
