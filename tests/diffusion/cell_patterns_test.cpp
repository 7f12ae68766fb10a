#include <spnn/core/rng.h>
#include <spnn/diffusion/cell_patterns.h>
#include <spnn/diffusion/unet_denoiser.h>
#include <spnn/layers/init.h>

#include "support/tensor_near.h"

namespace spnn {
namespace {

using spnn::testing::TensorNear;

TEST(CellPattern, IsAnOrthogonalProjectionOntoGrids) {
  const auto x = Rng(1).randn({2, 3, 16, 12}, torch::kFloat64), y = Rng(2).randn({2, 3, 16, 12}, torch::kFloat64);
  const auto p = cell_pattern(x, 4);
  EXPECT_THAT(cell_pattern(p, 4), TensorNear(p, 1e-12));
  EXPECT_NEAR((p * y).sum().item<double>(), (x * cell_pattern(y, 4)).sum().item<double>(), 1e-10);
  EXPECT_THAT(p.mean({2, 3}), TensorNear(torch::zeros({2, 3}, torch::kFloat64), 1e-12));   // colours stay
  const auto checkerboard = torch::tensor({{1.0, -1.0}, {-1.0, 1.0}}, torch::kFloat64).repeat({1, 3, 8, 6});
  EXPECT_THAT(cell_pattern(checkerboard, 2), TensorNear(checkerboard, 1e-12));
}

TEST(CellPattern, AlmostAllOfAGridIsNoiseWhereThereIsNoiseAndNothingElseChanges) {
  const auto x_t = Rng(3).randn({1, 3, 8, 8}, torch::kFloat64), eps = Rng(4).randn({1, 3, 8, 8}, torch::kFloat64);
  const auto known = with_pattern_known(eps, x_t, /*alpha_bar=*/1e-3, 2);
  EXPECT_THAT(known - cell_pattern(known, 2), TensorNear(eps - cell_pattern(eps, 2), 1e-12));
  const auto x0 = (x_t - std::sqrt(1 - 1e-3) * known) / std::sqrt(1e-3);
  EXPECT_LT(cell_pattern(x0, 2).abs().max().item<double>(), 0.01 * cell_pattern(x_t, 2).abs().max().item<double>());
  const double a = 1 - 1e-6;   // hardly any noise: a photo's own grid stays
  const auto kept = (x_t - std::sqrt(1 - a) * with_pattern_known(eps, x_t, a, 2)) / std::sqrt(a);
  EXPECT_THAT(cell_pattern(kept, 2), TensorNear(cell_pattern(x_t, 2), 1e-4));
}

// The constant of a map is lost in group norms: a network behind a stem takes hardly any notice of a grid over the whole image.
TEST(CellPattern, IsTakenFromWhatANetworkBehindAStemSays) {
  const torch::NoGradGuard no_grad;
  auto net = std::make_shared<UNet>(UNetConfig{.image_size = 16, .ch = 16, .ch_mult = {1, 2}, .num_res_blocks = 1,
                                               .attn_resolutions = {}, .stem = 2, .norm_groups = 8});
  initialise(*net, Rng(1));
  const UNetDenoiser prior(net, Schedule::linear(), Parameterization::v);
  const auto x_t = Rng(5).randn({2, 3, 16, 16});
  const auto x0 = predict_x0(prior, x_t, 800);
  EXPECT_LT(cell_pattern(x0, 2).abs().max().item<float>(), 1e-2F);
}

}  // namespace
}  // namespace spnn
