#include <gtest/gtest.h>
#include <spnn/image/image.h>
#include <spnn/restoration/restore.h>

#include "support/curved_projector.h"
#include "support/damage.h"
#include "support/gaussian_prior.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using testing::CurvedProjector;
using testing::GaussianPrior;
using testing::refusal;
using testing::TensorNear;

const Shape shape{3, 8, 8};
constexpr std::int64_t outputs = 5;

class Restoration : public ::testing::Test {
 protected:
  struct Wish {
    Tensor y;
    double lambda = 1;
    std::uint64_t seed = 7;
    Window window = {};
    SamplerStart start = {};
    Guidance guidance = {};
  };
  // x as sampled, before it is made into bytes.
  Tensor restored(const Wish& wish, const SamplerConfig& sampler = {.steps = 20}) {
    const BackProjection how{.aim = at_every_step(fixed(wish.y)), .guidance = wish.guidance ? wish.guidance : constant_lambda(wish.lambda),
                             .window = wish.window};
    return sample(prior, sampler, ImageSeeds(wish.seed, wish.y.size(0)), observer, back_projection(g, how), wish.start);
  }
  RestorationTask task(const Tensor& target) const {
    return {.seeds = ImageSeeds(7, target.size(0)), .target = [target](std::int64_t first, std::int64_t last) { return fixed(target.slice(0, first, last)); }};
  }

  GaussianPrior prior{shape, 0.1, 0.25};
  CurvedProjector g{shape, outputs, 11};
  Tensor y = Rng(5).randn({4, outputs}) * 2;
  Observer observer;
};

TEST_F(Restoration, FullGuidanceMeetsTheTarget) {
  EXPECT_THAT(g.forward(restored({y, 1.0})), TensorNear(y, 1e-4));
}

TEST_F(Restoration, NoGuidanceIsPlainSampling) {
  const auto plain = sample(prior, {.steps = 20}, ImageSeeds(7, 4), observer);
  EXPECT_THAT(restored({y, 0.0}), TensorNear(plain, 0));
  EXPECT_THAT(restored({.y = y, .window = {.from = 0, .to = 0}}), TensorNear(plain, 0));
}

TEST_F(Restoration, GuidedPartIsTheShareOfStepsAtWhichGuidanceIsAsked) {
  const auto expect_part = [&](const SamplerConfig& sampler, const Window& window, double part) {
    std::int64_t guided = 0;
    restored({.y = y, .window = window, .guidance = [&](const GuidanceStep&) { return ++guided, torch::ones({y.size(0)}); }}, sampler);
    const auto steps = evaluations(sampler, prior.schedule());
    EXPECT_DOUBLE_EQ(guided_part(sampler, window, prior.schedule()), static_cast<double>(guided) / static_cast<double>(steps));
    EXPECT_DOUBLE_EQ(guided_part(sampler, window, prior.schedule()), part);
  };
  const SamplerConfig twenty{.steps = 20};   // t = 0, 50 … 950
  expect_part(twenty, {}, 1);
  expect_part(twenty, {.from = 0}, 0);
  expect_part(twenty, {.from = 250}, 5 / 20.0);
  expect_part(twenty, {.from = 251, .to = 50}, 5 / 20.0);
  expect_part(twenty, {.from = 500, .every = 3}, 4 / 20.0);   // of the last ten: 1, 4, 7 and 10 from the end
  // Four jumps back by four steps: 36 in all, and of t < 200 the steps 150, 100 and 50 twice, 0 once.
  expect_part({.steps = 20, .travel = {.length = 4, .repeat = 2}}, {.from = 200}, 7 / 36.0);
}

TEST_F(Restoration, AnImageDoesNotDependOnItsBatch) {
  const auto all = restored({y, 0.7});
  for (std::int64_t i = 0; i < y.size(0); ++i) {
    const auto alone = restored({y.slice(0, i, i + 1), 0.7, 7 + static_cast<std::uint64_t>(i)});
    EXPECT_THAT(alone, TensorNear(all.slice(0, i, i + 1), 1e-5));
  }
}

TEST_F(Restoration, TheSameSeedGivesTheSameBits) {
  EXPECT_TRUE(torch::equal(restored({y, 0.7}), restored({y, 0.7})));
  EXPECT_FALSE(torch::equal(restored({y, 0.7}), restored({y, 0.7, 8})));
}

TEST_F(Restoration, KeepsThePriorWhereTheTargetSaysNothing) {
  // With y as the prior itself would give, guidance has nothing to push: pixels stay distributed as the sampler's.
  const auto free = sample(prior, {.steps = 20}, ImageSeeds(100, 64), observer);
  const auto natural = g.forward(free);
  const auto x = restored({natural, 1, 300});
  EXPECT_NEAR(x.mean().item<double>(), 0.1, 0.01);
  EXPECT_NEAR(x.std().item<double>(), free.std().item<double>(), 0.01);
}

TEST_F(Restoration, StartsFromAPhotoThatStaysRecognisable) {
  const auto photo = Rng(9).uniform(shape.batched(4)) * 0.6 - 0.3;
  const Wish late{.y = g.forward(photo), .start = {.photo = photo, .time = 100}};
  const auto near = (restored(late) - photo).square().mean().item<double>();
  auto early = late;
  early.start.time = 900;
  EXPECT_LT(near, 0.5 * (restored(early) - photo).square().mean().item<double>());
}

TEST_F(Restoration, ShowsEveryStep) {
  struct Viewer : Observer {
    void preview(const Preview& p) override { seen.push_back(p); }
    bool wants_previews() const override { return true; }
    std::vector<Preview> seen;
  } viewer;
  const auto done = restore(prior, g, {.sampler = {.steps = 20}, .finalize = {.iterations = 0}, .batch = 3}, task(y), viewer);
  ASSERT_EQ(viewer.seen.size(), 20U * 4U);
  for (std::size_t k = 0; k < viewer.seen.size(); ++k) {   // three images of the first batch, then the fourth alone
    EXPECT_EQ(viewer.seen[k].image, k < 60 ? static_cast<std::int64_t>(k % 3) : 3);
    EXPECT_EQ(viewer.seen[k].step, static_cast<std::int64_t>(k < 60 ? k / 3 : k - 60) + 1);
  }
  const auto last = done.bytes[3].permute({1, 2, 0}).contiguous();
  EXPECT_EQ(viewer.seen.back().pixels, std::vector<std::uint8_t>(last.data_ptr<std::uint8_t>(), last.data_ptr<std::uint8_t>() + last.numel()))
      << "the last preview is the image";
}

TEST_F(Restoration, RefusesAPriorOfAnotherSize) {
  const GaussianPrior large({3, 16, 16}, 0, 1);
  EXPECT_THAT(refusal([&] { restore(large, g, {}, task(y), observer); }),
              ::testing::HasSubstr("expected a prior of 3×8×8 images, as the network has, got 3×16×16"));
}

TEST_F(Restoration, CancellingThrows) {
  struct Cancel : Observer {
    bool cancelled() const override { return true; }
  } cancel;
  EXPECT_THROW(restore(prior, g, {}, task(y), cancel), Interrupted);
}

TEST_F(Restoration, CarriesTheTargetThatWasAimedAt) {
  auto wanted = task(y);
  int asked = 0;
  wanted.target = [&](std::int64_t first, std::int64_t last) { return ++asked, fixed(y.slice(0, first, last)); };
  const auto done = restore(prior, g, {.sampler = {.steps = 5}, .batch = 2}, wanted, observer);
  EXPECT_EQ(asked, 2) << "once for each batch, never again for the report";
  EXPECT_THAT(done.target, TensorNear(y, 0));
}

TEST_F(Restoration, WithoutDiffusionIsOneBackProjectionOfThePhoto) {
  auto wanted = task(y);
  EXPECT_THAT(refusal([&] { restore(prior, g, {.diffuse = false}, wanted, observer); }), ::testing::HasSubstr("expected a photo"));
  const auto photo = Rng(9).uniform(shape.batched(4)) * 0.6 - 0.3;
  wanted.start = {.photo = photo};
  const auto done = restore(prior, g, {.finalize = {.iterations = 0}, .diffuse = false}, wanted, observer);
  EXPECT_TRUE(torch::equal(done.bytes, to_bytes(g.nlbp(photo, y).clamp(-1, 1))));
}

TEST_F(Restoration, APhotoIsEditedInItsPlaceAndMeetsTheWishAsSaved) {
  const auto photo = Rng(9).uniform(shape.batched(4)) * 0.6 - 0.3;
  const auto up = [](const Tensor& now) {   // output 2 at 3 or more; nobody asks about the others
    auto out = now.clone();
    out.select(1, 2).clamp_min_(3);
    return out;
  };
  auto wanted = task(y);
  wanted.target = [&](std::int64_t, std::int64_t) { return Target(up); };
  wanted.start = {.photo = photo};
  ASSERT_LT(g.forward(photo).select(1, 2).max().item<double>(), 1.4) << "a wish that no photo meets already";
  const RestorerConfig in_place{.sampler = {.steps = 50}, .batch = 3, .photo = PhotoEditConfig{.spin = {.rounds = 12}}};
  const auto done = restore(prior, g, in_place, wanted, observer);
  EXPECT_GE(done.y.select(1, 2).min().item<double>(), 1.49) << "half of what was asked for, on the saved bytes";
}

TEST_F(Restoration, FinalBytesAreNearerThanRounding) {
  const auto x = restored({y, 1.0});
  const auto done = finalize(g, x, fixed(y), {.iterations = 40, .tolerance = 1e-9});
  const auto rounded = distance_to_target(g.forward(to_unit(to_bytes(x))), fixed(y));
  EXPECT_LT(done.after.mean().item<double>(), 0.8 * rounded.mean().item<double>());
  EXPECT_TRUE((done.after <= rounded).all().item<bool>());
  EXPECT_THAT(g.forward(to_unit(done.bytes)), TensorNear(done.y, 1e-6));
  EXPECT_THAT(distance_to_target(done.y, fixed(y)), TensorNear(done.after, 1e-6));
}

TEST_F(Restoration, FinalizingStopsImageByImage) {
  const auto x = to_unit(to_bytes(restored({y, 1.0})));
  auto aim = g.forward(x);
  aim[2] += 0.5;   // only this one has to move
  const auto done = finalize(g, x, fixed(aim), {.iterations = 10, .tolerance = 0.005});
  EXPECT_EQ(done.iterations[0].item<std::int64_t>(), 0);
  EXPECT_GT(done.iterations[2].item<std::int64_t>(), 0);
  EXPECT_TRUE(torch::equal(done.bytes[0], to_bytes(x)[0]));
  EXPECT_LT(done.after[2].item<double>(), 0.5);
}

// g is the mean. After an honest first move it offers a chessboard of black and white, whose bytes meet the target exactly.
class Tempter final : public BackProjector {
 public:
  Tensor forward(const Tensor& x) const override { return x.flatten(1).mean(1, true); }
  Tensor pinv(const Tensor& y) const override { return y.reshape({-1, 1, 1, 1}).expand({-1, 1, 4, 4}); }
  Probe probe(const Tensor& x) const override { return {x, forward(x), {}}; }
  Tensor nlbp(const Probe& probe, const Tensor& y, const Tensor&) const override {
    if (moves_++ == 0) return probe.x + pinv(y - probe.y);
    return torch::cat({torch::ones({1, 1, 2, 4}), -torch::ones({1, 1, 2, 4})}, 2);
  }
  Shape in_shape() const override { return {1, 4, 4}; }
  Shape out_shape() const override { return {1, 1, 1}; }

 private:
  mutable int moves_ = 0;
};

TEST(Finalize, DoesNotSpoilThePictureForTheLastOfTheRounding) {
  const auto done = finalize(Tempter(), torch::full({1, 1, 4, 4}, 0.05), fixed(torch::zeros({1, 1})), {.iterations = 3, .tolerance = 1e-9});
  EXPECT_LT(done.after.item<float>(), 0.01F);                                    // the first projection was taken,
  EXPECT_EQ(done.bytes.max().item<int>(), done.bytes.min().item<int>());   // the chessboard was not
}

}  // namespace
}  // namespace spnn
