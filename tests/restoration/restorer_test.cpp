#include <gtest/gtest.h>
#include <spnn/image/image.h>
#include <spnn/restoration/finalize.h>

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
  RestorationTask task(const Tensor& y, double lambda, std::uint64_t seed = 7) const {
    return {.target = fixed(y), .guidance = constant_lambda(lambda), .seeds = ImageSeeds(seed, y.size(0))};
  }
  Tensor restored(const RestorationTask& task, RestorerConfig config = {}) {
    config.sampler.steps = 20;
    return restore(prior, g, config, task, observer);
  }

  GaussianPrior prior{shape, 0.1, 0.25};
  CurvedProjector g{shape, outputs, 11};
  Tensor y = Rng(5).randn({4, outputs}) * 2;
  Observer observer;
};

TEST_F(Restoration, FullGuidanceMeetsTheTarget) {
  EXPECT_THAT(g.forward(restored(task(y, 1.0))), TensorNear(y, 1e-4));
}

TEST_F(Restoration, NoGuidanceIsPlainSampling) {
  const auto plain = sample(prior, {.steps = 20}, ImageSeeds(7, 4), observer);
  EXPECT_THAT(restored(task(y, 0.0)), TensorNear(plain, 0));
  RestorerConfig never;
  never.window = {.from = 0, .to = 0};
  EXPECT_THAT(restored(task(y, 1.0), never), TensorNear(plain, 0));
}

TEST_F(Restoration, GuidedPartIsTheShareOfStepsAtWhichGuidanceIsAsked) {
  const auto expect_part = [&](const RestorerConfig& config, double part) {
    std::int64_t guided = 0, steps = 0;
    auto counted = task(y, 1.0);
    counted.guidance = [&](const GuidanceStep&) { return ++guided, torch::ones({y.size(0)}); };
    counted.on_step = [&](const SamplerStep&) { ++steps; };
    restore(prior, g, config, counted, observer);
    EXPECT_DOUBLE_EQ(guided_part(config, prior.schedule()), static_cast<double>(guided) / static_cast<double>(steps));
    EXPECT_DOUBLE_EQ(guided_part(config, prior.schedule()), part);
  };
  const SamplerConfig twenty{.steps = 20};   // t = 0, 50 … 950
  expect_part({.sampler = twenty}, 1);
  expect_part({.sampler = twenty, .window = {.from = 0}}, 0);
  expect_part({.sampler = twenty, .window = {.from = 250}}, 5 / 20.0);
  expect_part({.sampler = twenty, .window = {.from = 251, .to = 50}}, 5 / 20.0);
  expect_part({.sampler = twenty, .window = {.from = 500, .every = 3}}, 4 / 20.0);   // of the last ten: 1, 4, 7 and 10 from the end
  // Four jumps back by four steps: 36 in all, and of t < 200 the steps 150, 100 and 50 twice, 0 once.
  expect_part({.sampler = {.steps = 20, .travel = {.length = 4, .repeat = 2}}, .window = {.from = 200}}, 7 / 36.0);
}

TEST_F(Restoration, AnImageDoesNotDependOnItsBatch) {
  const auto all = restored(task(y, 0.7));
  for (std::int64_t i = 0; i < y.size(0); ++i) {
    const auto alone = restored(task(y.slice(0, i, i + 1), 0.7, 7 + static_cast<std::uint64_t>(i)));
    EXPECT_THAT(alone, TensorNear(all.slice(0, i, i + 1), 1e-5));
  }
}

TEST_F(Restoration, TheSameSeedGivesTheSameBits) {
  EXPECT_TRUE(torch::equal(restored(task(y, 0.7)), restored(task(y, 0.7))));
  EXPECT_FALSE(torch::equal(restored(task(y, 0.7)), restored(task(y, 0.7, 8))));
}

TEST_F(Restoration, KeepsThePriorWhereTheTargetSaysNothing) {
  // With y as the prior itself would give, guidance has nothing to push: pixels stay distributed as the sampler's.
  const auto free = sample(prior, {.steps = 20}, ImageSeeds(100, 64), observer);
  const auto natural = g.forward(free);
  const auto x = restored({.target = fixed(natural), .guidance = constant_lambda(1), .seeds = ImageSeeds(300, 64)});
  EXPECT_NEAR(x.mean().item<double>(), 0.1, 0.01);
  EXPECT_NEAR(x.std().item<double>(), free.std().item<double>(), 0.01);
}

TEST_F(Restoration, StartsFromAPhotoThatStaysRecognisable) {
  const auto photo = Rng(9).uniform(shape.batched(4)) * 0.6 - 0.3;
  auto late = task(g.forward(photo), 1.0);
  late.start = {.photo = photo, .time = 100};
  const auto near = (restored(late) - photo).square().mean().item<double>();
  auto early = late;
  early.start.time = 900;
  EXPECT_LT(near, 0.5 * (restored(early) - photo).square().mean().item<double>());
}

TEST_F(Restoration, ShowsEveryStep) {
  std::int64_t steps = 0;
  auto watched = task(y, 1.0);
  watched.on_step = [&](const SamplerStep& step) {
    EXPECT_EQ(step.index, steps++);
    EXPECT_THAT(g.forward(step.x0_hat), TensorNear(y, 1e-3));
  };
  restored(watched);
  EXPECT_EQ(steps, 20);
}

TEST_F(Restoration, RefusesAPriorOfAnotherSize) {
  const GaussianPrior large({3, 16, 16}, 0, 1);
  EXPECT_THAT(refusal([&] { restore(large, g, {}, task(y, 1), observer); }),
              ::testing::HasSubstr("expected a prior of 3×8×8 images, as the network has, got 3×16×16"));
}

TEST_F(Restoration, CancellingThrows) {
  struct Cancel : Observer {
    bool cancelled() const override { return true; }
  } cancel;
  EXPECT_THROW(restore(prior, g, {}, task(y, 1), cancel), Interrupted);
}

TEST_F(Restoration, FinalBytesAreNearerThanRounding) {
  const auto x = restored(task(y, 1.0));
  const auto done = finalize(g, x, fixed(y), {.iterations = 40, .tolerance = 1e-9});
  const auto rounded = distance_to_target(g.forward(to_unit(to_bytes(x))), fixed(y));
  EXPECT_LT(done.after.mean().item<double>(), 0.8 * rounded.mean().item<double>());
  EXPECT_TRUE((done.after <= rounded).all().item<bool>());
  EXPECT_THAT(g.forward(to_unit(done.bytes)), TensorNear(done.y, 1e-6));
  EXPECT_THAT(distance_to_target(done.y, fixed(y)), TensorNear(done.after, 1e-6));
}

TEST_F(Restoration, FinalizingStopsImageByImage) {
  const auto x = to_unit(to_bytes(restored(task(y, 1.0))));
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
