#include <gtest/gtest.h>
#include <spnn/operators/cellwise_operator.h>
#include <spnn/projection/composed_projector.h>
#include <spnn/projection/verify.h>

#include "support/damage.h"
#include "support/laws.h"
#include "support/small_network.h"

namespace spnn {
namespace {

using testing::TensorNear;

std::shared_ptr<ComposedProjector> composed(torch::Dtype type, PseudoInverse choice = PseudoInverse::learned, Metric metric = Metric::plain) {
  return behind_pooling(std::make_shared<SpnnProjector>(testing::small_network(type), SpnnProjectorConfig{choice, metric}), 16);
}

Tensor large_input(std::int64_t batch, torch::Dtype type, std::uint64_t seed = 1) { return 0.5 * Rng(seed).randn({batch, 2, 16, 16}, type); }

TEST(ComposedProjector, HoldsTheLawsOfTheFamily) {
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    for (const auto& [choice, metric] : {std::pair{PseudoInverse::learned, Metric::plain}, {PseudoInverse::anchored, Metric::residual}}) {
      testing::expect_laws(*composed(type, choice, metric), large_input(3, type), testing::small_target(3, type), testing::tolerance_of(type));
    }
  }
}

TEST(ComposedProjector, FewPassesGiveTheLiteralEquation) {
  const torch::NoGradGuard no_grad;
  const auto g = composed(torch::kFloat64);
  const auto x = large_input(3, torch::kFloat64), y = testing::small_target(3, torch::kFloat64);
  for (const double lambda : {0.3, 1.0}) EXPECT_THAT(g->nlbp(x, y, lambda), TensorNear(nlbp(*g, x, y, lambda), 1e-9));
}

TEST(ComposedProjector, KeepsTheDetailAndGivesAPhotoBackForLambdaZero) {
  const torch::NoGradGuard no_grad;
  const auto g = composed(torch::kFloat32);
  const auto bytes = (Rng(4).uniform({3, 2, 16, 16}) * 256).floor().to(torch::kUInt8);
  const auto x = bytes.to(torch::kFloat32) * (2.0 / 255) - 1;
  const auto y = testing::small_target(3, torch::kFloat32);
  const auto same = g->nlbp(x, y, 0.0);
  EXPECT_TRUE(torch::equal(((same + 1) * 127.5).round().to(torch::kUInt8), bytes));   // to the bit, as it is saved
  const auto moved = g->nlbp(x, y, 1.0);
  EXPECT_THAT(g->A().complete(moved).z.front(), TensorNear(g->A().complete(x).z.front(), 1e-5));
  EXPECT_GT((moved - x).abs().max().item<double>(), 0.01);
  const auto low = Rng(9).randn({3, 2, 4, 4});
  EXPECT_THAT(g->small(g->with_small(x, low)), TensorNear(low, 1e-5));
}

TEST(ComposedProjector, IsVerifiedToRounding) {
  const auto A = std::make_shared<AveragePooling>(Shape{2, 16, 16}, 4);
  const auto found = verify_composed(testing::small_network(torch::kFloat64), A, large_input(4, torch::kFloat64), testing::small_target(4, torch::kFloat64));
  EXPECT_TRUE(found.passed());
  ASSERT_EQ(found.residuals.size(), 8U);
  for (const auto& residual : found.residuals) EXPECT_LE(residual.absolute, 1e-11) << residual.name;
}

TEST(ComposedProjector, RefusesASizeThatIsNoMultiple) {
  const auto g = std::make_shared<SpnnProjector>(testing::small_network(torch::kFloat32));
  EXPECT_THAT(testing::refusal([&] { behind_pooling(g, 18); }), ::testing::HasSubstr("size: expected a multiple of 4, the network's own, got 18"));
}

}  // namespace
}  // namespace spnn
