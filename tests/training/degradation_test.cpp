#include <spnn/degradations/black_box.h>
#include <spnn/training/plain_cnn.h>

#include "support/damage.h"
#include "support/tensor_near.h"
#include "training/tiny.h"

using namespace spnn;
using namespace spnn::testing;
using ::testing::HasSubstr;

namespace {

const Shape picture{3, 8, 8};

DegradationRecipe tiny_recipe(std::int64_t steps) {
  DegradationRecipe recipe = Json::object().get<DegradationRecipe>();
  recipe.image_size = 8;
  recipe.keep = "pool:2";
  recipe.network = {.hidden = 16, .kernel = 1, .r_hidden = 8};
  recipe.train = tiny_training(steps);
  recipe.train.batch = 32;
  return recipe;
}

DegradedImages by(const BlackBox& D, const Dataset& clean) {
  return {clean, [&D](const Batch& batch) { return D(batch.images); }};
}

}  // namespace

TEST(Degradation, BeginsAtTheReductionAndLearnsTheBlackBox) {
  const auto set = tiny_dataset(128), val = tiny_dataset(64, 2);
  const auto D = make_black_box("clip:low=0.4,high=0.6", picture);
  const Reduction T("pool:2", picture);
  auto recipe = tiny_recipe(200);
  recipe.network.pieces = 0;
  DegradationObjective objective(recipe, T, by(D, set), by(D, val), {{"black_box", D.spec}});
  const auto error = [&] { return fit_error([&](const Tensor& x) { return objective.net().forward(x); }, T, by(D, val), 64); };
  const auto linear = fit_error([&](const Tensor& x) { return T.forward(x); }, T, by(D, val), 64);
  EXPECT_NEAR(error().rms, linear.rms, 1e-6) << "before training";
  const TemporaryFolder folder;
  train_in(folder / "run", objective, recipe.train);
  EXPECT_LT(error().rms, 0.25 * linear.rms);
  EXPECT_EQ(objective.metadata().at("black_box"), "clip:low=0.4,high=0.6");
  EXPECT_EQ(objective.metadata().at("keep"), "pool:2");
}

TEST(Degradation, CurvesBeginAtWhatPicturesSay) {
  const auto set = tiny_dataset(128), val = tiny_dataset(64, 2);
  const Reduction T("pool:2", picture);
  const auto linear = [&](const BlackBox& D) { return fit_error([&](const Tensor& x) { return T.forward(x); }, T, by(D, val), 64).rms; };
  const auto begun = [&](const BlackBox& D) { return DegradationObjective(tiny_recipe(1), T, by(D, set), by(D, val)).validate().score; };
  const auto tone = make_black_box("clip:low=0.4,high=0.6", picture);
  EXPECT_LT(begun(tone), 0.6 * linear(tone)) << "what happens to pixels one by one needs no training";
  const auto nothing = make_black_box("clip:low=0,high=1", picture);
  EXPECT_LT(begun(nothing), 5e-3) << "and what does not happen is not invented";
}

TEST(Degradation, StatisticsAreOfChannels) {
  const auto set = tiny_dataset(64);
  const Reduction T("pool:2", picture);
  const DegradedImages images{set, [](const Batch& batch) { return batch.images; }};
  const auto offset = torch::tensor({0.1, 0.2, 0.0}).view({1, 3, 1, 1});
  const auto fit = fit_statistics([&](const Tensor& x) { return T.forward(x) + offset; }, T, images, 64);
  ASSERT_EQ(fit.error.size(), 3U);
  EXPECT_NEAR(fit.error[1], 0.04, 1e-6);
  EXPECT_NEAR(fit.error[2], 0, 1e-9);
  const auto y = T.forward(make_batch(set, torch::arange(64, torch::kInt64)).images);
  EXPECT_NEAR(fit.signal[0], y.select(1, 0).var().item<double>(), 1e-5);
  EXPECT_EQ(Json(Json(fit).get<FitStatistics>()), Json(fit));
}

TEST(Degradation, FitErrorIsOfEntriesAndOfPictures) {
  const auto val = tiny_dataset(3, 2);
  const Reduction T("pool:2", picture);
  const DegradedImages images{val, [](const Batch& batch) { return batch.images; }};
  const auto error = fit_error([&](const Tensor& x) { return T.forward(x) + 0.5; }, T, images, 3);
  EXPECT_NEAR(error.rms, 0.25, 1e-6) << "half of [−1, 1]'s unit is a quarter of [0, 1]'s";
  // One entry of four is there, so a pixel's mean square is 0.25/4, of a peak of 2² = 4: 10 lg 64.
  EXPECT_NEAR(error.psnr, 10 * std::log10(64.0), 1e-4);
}

TEST(Degradation, PartsAreTheLiteralLosses) {
  const auto set = tiny_dataset(32), val = tiny_dataset(8, 2);
  const auto D = make_black_box("quantize:1", picture);
  const Reduction T("pool:2", picture);
  auto recipe = tiny_recipe(1);
  recipe.augment.flip = false;
  recipe.losses = {.task = 2, .regression = 3, .stability = 4, .restoration = 5};
  DegradationObjective objective(recipe, T, by(D, set), by(D, val));
  auto& net = dynamic_cast<Spnn&>(objective.module());
  randomise_spnn(net, Rng(3));
  const auto losses = objective.losses(0, {});
  const auto x = make_batch(set, BatchOrder(32, 32, recipe.train.seed).indices(0)).images;
  const auto y = net.forward(x);
  ASSERT_EQ(losses.size(), 4U);
  EXPECT_NEAR(losses[0].second.item<double>(), 2 * (y - T.forward(D(x))).square().mean().item<double>(), 1e-4);
  const auto level = net.levels(x).front();
  EXPECT_NEAR(losses[1].second.item<double>(), 3 * (level.z - net.r(0, level.y)).square().mean().item<double>(), 1e-4);
  EXPECT_NEAR(losses[2].second.item<double>(), 4 * (net.pinv(y) - x).square().mean().item<double>(), 1e-3);
  EXPECT_NEAR(losses[3].second.item<double>(), 5 * (net.pinv(T.forward(D(x))) - x).square().mean().item<double>(), 1e-3);
}

TEST(Degradation, ThePlainCnnHasAsManyWeightsAndBeginsAtTheSamePlace) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  const auto D = make_black_box("clip:low=0.4,high=0.6", picture);
  const Reduction T("pool:2", picture);
  const auto recipe = tiny_recipe(120);
  const DegradationObjective g(recipe, T, by(D, set), by(D, val));
  const auto wanted = parameter_count(g.net().g_parameters());
  PlainCnnObjective cnn(recipe, T, by(D, set), by(D, val), wanted);
  EXPECT_NEAR(static_cast<double>(cnn.parameter_count()), static_cast<double>(wanted), 0.15 * static_cast<double>(wanted));
  const auto before = cnn.validate().score;
  EXPECT_NEAR(before, fit_error([&](const Tensor& x) { return T.forward(x); }, T, by(D, val), 32).rms, 1e-6);
  const TemporaryFolder folder;
  train_in(folder / "run", cnn, recipe.train);
  EXPECT_LT(cnn.validate().score, 0.25 * before);
}

TEST(Degradation, ARecipeNeedsToSayNothingAndMayNotSayNonsense) {
  const auto usual = Json::object().get<DegradationRecipe>();
  EXPECT_EQ(usual.picture(), (Shape{3, 64, 64}));
  EXPECT_GT(usual.inverse.losses.rollout, 0);
  const Json some = {{"train", {{"steps", 7}}}, {"inverse", {{"train", {{"steps", 5}}}}}};
  const auto changed = some.get<DegradationRecipe>();
  EXPECT_EQ(changed.train.steps, 7);
  EXPECT_EQ(changed.train.batch, usual.train.batch);
  EXPECT_EQ(changed.inverse.train.steps, 5);
  EXPECT_EQ(Json(Json(changed).get<DegradationRecipe>()), Json(changed));
  const auto refused = [](const Json& json) { return refusal([&] { json.get<DegradationRecipe>(); }); };
  EXPECT_THAT(refused({{"kep", "pool:2"}}), HasSubstr("'kep'"));
  EXPECT_THAT(refused({{"network", {{"kernel", 2}}}}), HasSubstr("network.kernel: expected an odd number, got 2"));
  EXPECT_THAT(refused({{"losses", {{"task", 0}}}}), HasSubstr("a task above 0"));
}
