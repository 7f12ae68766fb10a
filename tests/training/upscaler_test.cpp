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

namespace {

// Detail whose frequencies spread by very different amounts, as those of photos do.
Tensor uneven_images(std::int64_t count) {
  const auto x = Rng(4).randn({count, 3, 32, 32});
  return 0.2 * torch::avg_pool2d(torch::replication_pad2d(x, {1, 1, 1, 1}), 3, 1) + 0.01 * x;
}

UpscalerConfig by_frequency() {
  auto config = tiny_upscaler(1).network;
  config.by_frequency = true;
  return config;
}

}  // namespace

TEST(UpscalerByFrequency, BeginsAsTheWienerFilterOfEveryFrequency) {
  const torch::NoGradGuard no_grad;
  Upscaler net(by_frequency());   // all weights zero: F is 0
  for (auto& value : net.parameters()) value.zero_();
  net.measure_scale(uneven_images(64));
  net.to(torch::kFloat64);
  const auto s = net.spread();
  EXPECT_GT((s.max() / s.min()).item<double>(), 4);
  const auto z_t = Rng(6).randn({2, 45, 8, 8}, torch::kFloat64), guide = Rng(7).randn({2, 6, 8, 8}, torch::kFloat64);
  for (const double a : {0.999, 0.5, 0.01}) {
    const auto found = net.z0_hat(z_t, guide, torch::full({1}, 3.0, torch::kFloat64), torch::full({1}, a, torch::kFloat64));
    const auto posterior_mean = std::sqrt(a) * s.square() / (a * s.square() + 1 - a);   // of N(0, s²) seen as √ᾱ z + √(1−ᾱ) ε
    EXPECT_THAT(found, TensorNear(posterior_mean.view({1, -1, 1, 1}) * z_t, 1e-12)) << a;
  }
}

TEST(UpscalerByFrequency, AsksForUnitVarianceAtAllTimesAndFrequencies) {
  const torch::NoGradGuard no_grad;
  const auto images = uneven_images(256);
  Upscaler net(by_frequency());
  for (auto& value : net.parameters()) value.zero_();
  net.measure_scale(images);
  const auto z0 = net.detail(images), guide = torch::zeros({256, 6, 8, 8});
  for (const double a : {0.999, 0.5, 0.01}) {
    const auto z_t = std::sqrt(a) * z0 + std::sqrt(1 - a) * Rng(8).randn(z0.sizes());
    const auto wanted = net.residual(z0, z_t, guide, torch::zeros({1}), torch::full({1}, a)).wanted;
    EXPECT_THAT(wanted.square().mean({0, 2, 3}), TensorNear(torch::ones({45}), 0.1)) << a;
  }
}

TEST(UpscalerByFrequency, WithoutItTheNetworkSaysV) {
  const torch::NoGradGuard no_grad;
  Upscaler net(tiny_upscaler(1).network);
  for (auto& value : net.parameters()) value.zero_();
  const auto z0 = Rng(1).randn({2, 45, 8, 8}), noise = Rng(2).randn(z0.sizes());
  const double a = 0.3;
  const auto z_t = std::sqrt(a) * z0 + std::sqrt(1 - a) * noise;
  const auto wanted = net.residual(z0, z_t, torch::zeros({2, 6, 8, 8}), torch::zeros({1}), torch::full({1}, a)).wanted;
  EXPECT_THAT(wanted, TensorNear(std::sqrt(a) * noise - std::sqrt(1 - a) * z0, 1e-5));
}

TEST(UpscalerByFrequency, LearnsFromANetworkThatSaysSomethingElse) {
  const auto train = tiny_waves(8, 1);
  UpscalerObjective v(tiny_upscaler(1), train, train);
  auto recipe = tiny_upscaler(1);
  recipe.network.by_frequency = true;
  recipe.train.seed = 99;
  UpscalerObjective other(recipe, train, train);
  other.network().learn_from(v.network());
  const auto theirs = v.network().unet().named_parameters();
  for (const auto& item : other.network().unet().named_parameters()) {
    if (!item.key().starts_with("conv_out.")) EXPECT_TRUE(torch::equal(item.value(), theirs[item.key()])) << item.key();
  }
  Upscaler wider({.image_size = 32, .factor = 4, .unet = {.image_size = 4, .ch = 32, .ch_mult = {1, 2}, .num_res_blocks = 1, .attn_resolutions = {}, .norm_groups = 8}});
  EXPECT_THROW(wider.learn_from(v.network()), Error);
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
  expect_same_when_interrupted(folder, config, [&] {
    auto recipe = tiny_upscaler(20);
    recipe.network.by_frequency = true;
    recipe.min_snr = 0;
    recipe.time_power = 2;
    return std::make_unique<UpscalerObjective>(recipe, train, val);
  });
}

TEST(UpscalerTraining, LeavesTheAttentionOutThatWouldSeeOnlyCrops) {
  const auto train = tiny_waves(24, 1);
  UpscalerObjective objective(tiny_upscaler(3), train, train);
  const auto all = objective.module().parameters().size();
  EXPECT_EQ(objective.parameters().size() + 10, all);   // norm, q, k, v and the last layer, each with a bias
}
