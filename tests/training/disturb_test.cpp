#include <spnn/core/errors.h>
#include <spnn/training/disturb.h>
#include <spnn/training/judge.h>

#include "training/tiny.h"

using namespace spnn;
using namespace spnn::testing;

namespace {

Tensor some_images() { return Rng(3).uniform({8, 3, 8, 8}) * 2 - 1; }

}  // namespace

TEST(Disturb, DoesNotDependOnHowABatchIsCut) {
  const DisturbConfig config{.share = 0.7, .noise = 0.5, .blur = 1};
  const auto x = some_images();
  const auto whole = disturbed(x, config, Rng(5));
  EXPECT_TRUE(torch::equal(disturbed(x.narrow(0, 0, 4), config, Rng(5), {0, 2}), whole.narrow(0, 0, 4)));
  EXPECT_TRUE(torch::equal(disturbed(x.narrow(0, 4, 4), config, Rng(5), {1, 2}), whole.narrow(0, 4, 4)));
  EXPECT_FALSE(torch::equal(whole, x));
}

TEST(Disturb, LeavesTheOthersAlone) {
  const auto x = Rng(4).uniform({400, 1, 4, 4});
  const auto moved = disturbed(x, {.share = 0.5, .noise = 0.3, .blur = 0.5}, Rng(6)).ne(x).flatten(1).any(1).sum().item<std::int64_t>();
  EXPECT_GT(moved, 150);
  EXPECT_LT(moved, 250);
}

TEST(Disturb, NoiseIsAsStrongAsItSays) {
  const auto x = torch::zeros({200, 1, 16, 16});
  const auto sd = disturbed(x, {.noise = 0.6}, Rng(7)).flatten(1).std(1, /*unbiased=*/false);
  EXPECT_NEAR(sd.mean().item<double>(), 0.3, 0.03);
  EXPECT_LT(sd.max().item<double>(), 0.7);
}

TEST(Disturb, BlurKeepsTheMeanOfAPlainImageAndTakesAwayGrain) {
  EXPECT_TRUE(torch::allclose(disturbed(torch::full({2, 3, 8, 8}, 0.25), {.blur = 1}, Rng(8)), torch::full({2, 3, 8, 8}, 0.25)));
  const auto grain = Rng(9).randn({64, 1, 16, 16});
  EXPECT_LT(disturbed(grain, {.blur = 1}, Rng(8)).square().mean().item<double>(), 0.7 * grain.square().mean().item<double>());
}

TEST(Disturb, AJudgeTrainedThroughItSaysHowWellItSeesThroughIt) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  JudgeRecipe recipe;
  recipe.judge = {.image_size = 8, .widths = {8, 16}, .blocks = {1, 1}, .squeeze = 4, .features = 12, .outputs = 3};
  recipe.disturb = {.noise = 0.4, .blur = 0.5};
  recipe.train = tiny_training(10);
  JudgeObjective objective(recipe, set, val);
  const auto figures = objective.validate().figures;
  EXPECT_EQ(figures.back().first, "disturbed_accuracy");
  const auto back = Json(recipe).get<JudgeRecipe>();
  EXPECT_EQ(back.disturb, recipe.disturb);
  EXPECT_THROW((Json{{"noise", -1}}.get<DisturbConfig>()), Error);
}
