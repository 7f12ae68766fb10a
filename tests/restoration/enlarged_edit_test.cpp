#include <gmock/gmock.h>
#include <spnn/layers/init.h>
#include <spnn/restoration/enlarged_edit.h>

#include "support/tensor_near.h"

namespace spnn {
namespace {

using spnn::testing::TensorNear;

class EnlargedEdit : public ::testing::Test {
 protected:
  EnlargedEdit() {
    net = std::make_shared<Upscaler>(UpscalerConfig{.image_size = 32, .factor = 4, .unet = {.image_size = 4, .ch = 16, .ch_mult = {1, 2},
                                                    .num_res_blocks = 1, .attn_resolutions = {}, .norm_groups = 8}});
    net->measure_scale(Rng(1).randn({8, 3, 32, 32}) * 0.05);
    initialise(net->unet(), Rng(2));
    place.narrow(3, 0, 4).fill_(1);
  }
  Tensor edited(const Tensor& low, const RedrawConfig& redraw) {
    return enlarged_edit(net, photos, low, {.place = place, .redraw = redraw}, {.sampler = {.steps = 4}}, ImageSeeds(3, 2), silent);
  }

  std::shared_ptr<Upscaler> net;
  Tensor photos = 0.3 * Rng(3).randn({2, 3, 32, 32}).clamp(-1, 1);
  Tensor place = torch::zeros({1, 1, 8, 8});   // the left half
  Observer silent;
};

TEST_F(EnlargedEdit, HasTheSmallImageAndThePhotosDetailOutsideOfThePlace) {
  const torch::NoGradGuard no_grad;
  auto low = net->low(photos).clone();
  low.narrow(3, 0, 3).add_(0.4);
  const auto x = edited(low, {.time = 300}), carried = transport(*net, photos, low).clamp(-1, 1);
  EXPECT_THAT(net->low(x), TensorNear(low, 1e-4));
  EXPECT_THAT(x.narrow(3, 16, 16), TensorNear(carried.narrow(3, 16, 16), 1e-4));
  EXPECT_GT((x - carried).narrow(3, 0, 16).abs().mean().item<double>(), 0.01) << "the second stage's detail in the place";
}

TEST_F(EnlargedEdit, OfAPhotoThatIsAsItWasOrHardlyChangedIsTransport) {
  const torch::NoGradGuard no_grad;
  EXPECT_THAT(edited(net->low(photos), {}), TensorNear(photos.clamp(-1, 1), 1e-5));
  auto low = net->low(photos).clone();
  low.narrow(3, 0, 3).add_(0.02);
  EXPECT_TRUE(torch::equal(edited(low, {}), transport(*net, photos, low).clamp(-1, 1)));
}

TEST_F(EnlargedEdit, AnImageDoesNotDependOnItsBatch) {
  const torch::NoGradGuard no_grad;
  auto low = net->low(photos).clone();
  low[1].narrow(2, 0, 3).add_(0.4);   // only the second is drawn
  const auto all = edited(low, {.time = 300});
  photos = photos.narrow(0, 1, 1);
  const auto one = enlarged_edit(net, photos, low.narrow(0, 1, 1), {.place = place, .redraw = {.time = 300}}, {.sampler = {.steps = 4}}, ImageSeeds(4, 1), silent);
  EXPECT_THAT(one, TensorNear(all.narrow(0, 1, 1), 1e-4));
}

}  // namespace
}  // namespace spnn
