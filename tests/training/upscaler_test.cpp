#include <spnn/checkpoint/load_prior.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/errors.h>
#include <spnn/diffusion/upscale.h>
#include <spnn/training/upscaler.h>

#include "support/tensor_near.h"
#include "training/tiny.h"

using namespace spnn;
using namespace spnn::testing;

namespace {

// Pictures of 32×32: a plane wave of 8 pixels whose phase its mean tells, so that detail follows from the small image.
Dataset tiny_waves(std::int64_t count, std::uint64_t seed) {
  Dataset set;
  set.name = "waves";
  const auto level = Rng(seed).uniform({count, 1, 1, 1});
  const auto at = torch::arange(32).to(torch::kFloat32).view({1, 1, 1, 32});
  const auto wave = torch::sin(at * 0.785 + level * 6.283);
  set.images = (40 + 150 * level + 40 * wave.expand({count, 3, 32, 32})).clamp(0, 255).to(torch::kUInt8);
  set.labels = torch::zeros({count, 1});
  set.attributes = {"none"};
  return set;
}

UpscalerRecipe tiny_upscaler(std::int64_t steps) {
  UpscalerRecipe recipe;
  recipe.network = {.image_size = 32, .factor = 4,
                    .unet = {.image_size = 4, .ch = 16, .ch_mult = {1, 2}, .num_res_blocks = 1, .attn_resolutions = {}, .norm_groups = 8}};
  recipe.train = tiny_training(steps);
  recipe.train.batch = 8;
  return recipe;
}

}  // namespace

TEST(Upscaler, IsABijectionOfTheSmallImageAndItsDetail) {
  Upscaler net(tiny_upscaler(1).network);
  net.measure_scale(Rng(1).randn({8, 3, 32, 32}));
  net.to(torch::kFloat64);
  const auto x = Rng(2).randn({3, 3, 32, 32}, torch::kFloat64);
  const auto low = net.low(x), z = net.detail(x);
  EXPECT_EQ(z.sizes().vec(), (std::vector<std::int64_t>{3, 45, 8, 8}));
  EXPECT_THAT(net.image(low, z), TensorNear(x, 1e-12));
  // Any detail with any small image: A x = low, and the detail comes back.
  const auto other = Rng(3).randn(z.sizes(), torch::kFloat64), made = net.image(low, other);
  EXPECT_THAT(net.low(made), TensorNear(low, 1e-12));
  EXPECT_THAT(net.detail(made), TensorNear(other, 1e-11));
}

TEST(Upscaler, ScaleBringsTheDetailToUnitSize) {
  Upscaler net(tiny_upscaler(1).network);
  const auto images = Rng(1).randn({64, 3, 32, 32}) * 0.05;
  net.measure_scale(images);
  EXPECT_NEAR(net.detail(images).square().mean().item<double>(), 1, 0.01);
}

TEST(UpscalerTraining, LearnsDetailThatFollowsFromTheSmallImage) {
  const auto train = tiny_waves(64, 1), val = tiny_waves(16, 2);
  const TemporaryFolder folder;
  UpscalerObjective objective(tiny_upscaler(120), train, val);
  const double before = objective.validate().score;
  auto config = tiny_training(120);
  config.batch = 8;
  train_in(folder / "run", objective, config);
  EXPECT_LT(objective.validate().score, 0.8 * before);
  // The file is read back, whole images come out of a network trained on crops, and A x = low whatever it says.
  const auto net = load_upscaler(folder / "run/best.safetensors");
  Observer silent;
  const auto low = net->low(to_unit(val.images.slice(0, 0, 3)));
  const auto x = upscale(net, low, {.sampler = {.kind = SamplerKind::ddim, .steps = 4}}, ImageSeeds(0, 3), silent);
  EXPECT_THAT(net->low(x), TensorNear(low, 1e-5));
  const auto one = upscale(net, low.slice(0, 1, 2), {.sampler = {.kind = SamplerKind::ddim, .steps = 4}}, ImageSeeds(1, 1), silent);
  EXPECT_THAT(one, TensorNear(x.slice(0, 1, 2), 1e-5));   // an image does not depend on its batch
}

TEST(UpscalerTraining, InterruptedAnywhereEndsWithTheSameBits) {
  const auto train = tiny_waves(24, 1), val = tiny_waves(8, 2);
  const TemporaryFolder folder;
  auto config = tiny_training(20);
  config.batch = 8;
  expect_same_when_interrupted(folder, config, [&] { return std::make_unique<UpscalerObjective>(tiny_upscaler(20), train, val); });
}

TEST(UpscalerTraining, LeavesTheAttentionOutThatWouldSeeOnlyCrops) {
  const auto train = tiny_waves(24, 1);
  UpscalerObjective objective(tiny_upscaler(3), train, train);
  const auto all = objective.module().parameters().size();
  EXPECT_EQ(objective.parameters().size() + 10, all);   // norm, q, k, v and the last layer, each with a bias
}
