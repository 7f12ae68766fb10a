#include <gmock/gmock.h>
#include <spnn/diffusion/cascade_denoiser.h>
#include <spnn/layers/init.h>

#include "support/gaussian_prior.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using spnn::testing::GaussianPrior;
using spnn::testing::TensorNear;

std::shared_ptr<Upscaler> some_upscaler() {
  auto net = std::make_shared<Upscaler>(UpscalerConfig{.image_size = 32, .factor = 4, .unet = {.image_size = 4, .ch = 16, .ch_mult = {1, 2},
                                                       .num_res_blocks = 1, .attn_resolutions = {}, .norm_groups = 8}});
  net->measure_scale(Rng(1).randn({8, 3, 32, 32}) * 0.05);
  initialise(net->unet(), Rng(2));
  return net;
}

TEST(TimeOfNoise, IsTheNearestTimeOfTheSchedule) {
  const auto schedule = Schedule::linear();
  for (const std::int64_t t : {0, 7, 500, 999}) EXPECT_EQ(time_of_noise(schedule, std::sqrt(1 / schedule.snr(t))), t);
  EXPECT_EQ(time_of_noise(schedule, 1e-4), -1);
  EXPECT_EQ(time_of_noise(schedule, 1e6), 999);
}

// The small image of x̂0 is what the first stage makes of A x_t, whatever the second stage says.
TEST(CascadeDenoiser, HasTheFirstStagesSmallImage) {
  const torch::NoGradGuard no_grad;
  const auto small = std::make_shared<GaussianPrior>(Shape{3, 8, 8}, 0.1, 0.3);
  const CascadeDenoiser cascade(small, some_upscaler());
  const auto x0 = 0.1 + 0.3 * Rng(5).randn({2, 3, 8, 8}).repeat_interleave(4, 2).repeat_interleave(4, 3);
  for (const std::int64_t t : {5, 60, 300, 900}) {
    const double a = cascade.schedule().alpha_bar(t), sigma = std::sqrt((1 - a) / a);
    const auto u = x0 + sigma * Rng(6).randn(x0.sizes());
    const auto found = cascade.detail()->low(predict_x0(cascade, u * std::sqrt(a), t));
    // The exact posterior mean of a Gaussian seen with noise σ/4.
    const double weight = 0.09 / (0.09 + sigma * sigma / 16);
    EXPECT_THAT(found, TensorNear((0.1 + weight * (cascade.detail()->low(u) - 0.1)).clamp(-1, 1), 0.02)) << t;
  }
  EXPECT_EQ(cascade.shape().height, 32);
}

TEST(Upscale, GivesTheSmallImageBackWhateverTheNetworkSays) {
  Observer silent;
  const auto net = some_upscaler();
  const auto low = 0.5 * Rng(3).randn({2, 3, 8, 8}).clamp(-1, 1);
  const auto x = upscale(net, low, {.sampler = {.kind = SamplerKind::dpm, .steps = 5}}, ImageSeeds(0, 2), silent);
  EXPECT_THAT(net->low(x), TensorNear(low, 1e-5));
  // A correction in pixels is heard as far as the small image allows.
  const auto grey = upscale(net, low, {.sampler = {.kind = SamplerKind::dpm, .steps = 3}}, ImageSeeds(0, 2), silent,
                            [](const Tensor& x0, std::int64_t) { return torch::zeros_like(x0); });
  EXPECT_THAT(grey, TensorNear(net->image(low, torch::zeros({2, 45, 8, 8})), 1e-5));
}

TEST(Transport, KeepsWhatThePhotoHasBeyondTheExpected) {
  const torch::NoGradGuard no_grad;
  const auto net = some_upscaler();
  const auto x = 0.3 * Rng(3).randn({2, 3, 32, 32}), low = 0.3 * Rng(4).randn({2, 3, 8, 8});
  for (const bool learned : {false, true}) {
    const auto moved = transport(*net, x, low, learned);
    EXPECT_THAT(net->low(moved), TensorNear(low, 1e-5));
    EXPECT_THAT(transport(*net, x, net->low(x), learned), TensorNear(x, 1e-5));          // nothing moved: the photo
    EXPECT_THAT(transport(*net, moved, net->low(x), learned), TensorNear(x, 1e-4));      // and back again
  }
}

}  // namespace
}  // namespace spnn
