#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/errors.h>
#include <spnn/training/natural.h>
#include <torch/csrc/autograd/autograd.h>

#include "support/tensor_near.h"
#include "training/tiny.h"

using namespace spnn;
using namespace spnn::testing;

namespace {

std::shared_ptr<Judge> tiny_teacher() {
  auto teacher = std::make_shared<Judge>(JudgeConfig{.image_size = 8, .widths = {8, 16}, .blocks = {1, 1}, .squeeze = 4, .features = 12, .outputs = 3});
  initialise_judge(*teacher, Rng(9));
  const torch::NoGradGuard no_grad;
  for (auto& item : teacher->named_parameters()) {
    if (item.key().starts_with("head")) item.value().copy_(Rng(10).randn(item.value().sizes()) * 0.5);
  }
  return teacher;
}

std::shared_ptr<Spnn> tiny_memory() {
  auto net = std::make_shared<Spnn>(tiny_network());
  randomise_spnn(*net, Rng(11));
  return net;
}

NaturalRecipe tiny_natural(std::int64_t steps) {
  NaturalRecipe recipe;
  recipe.network = tiny_network();
  recipe.losses.features = 0.2;
  recipe.losses.wish = 0.2;
  recipe.inverse_every = 2;
  recipe.natural_from = 5;
  recipe.natural_ramp = 10;
  recipe.shown_shift = 1;
  recipe.targets.swapped = 0.5;
  recipe.disturb = {.share = 0.5, .noise = 0.3, .blur = 0.5};
  recipe.critic = {.widths = {8, 8}, .lr = 1e-3, .r1 = 1, .r1_every = 3};
  recipe.augment = {.flip = false, .shift = 1};
  recipe.train = tiny_training(steps);
  return recipe;
}

// Faces of which a tenth wear a hat and half smile; two colours of hair, never both.
Dataset uneven_labels(std::int64_t count) {
  Dataset set;
  set.name = "uneven";
  set.attributes = {"Hat", "Smile", "Blond", "Black"};
  const auto draw = Rng(1).uniform({count, 3});
  const auto hair = draw.select(1, 2);
  set.labels = torch::stack({draw.select(1, 0).lt(0.1), draw.select(1, 1).lt(0.5), hair.lt(0.3), hair.gt(0.6)}, 1).to(torch::kFloat32);
  set.images = torch::zeros({count, 3, 8, 8}, torch::kUInt8);
  return set;
}

}  // namespace

TEST(Natural, InterruptedAnywhereEndsWithTheSameBitsCriticIncluded) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  const TemporaryFolder folder;
  expect_same_when_interrupted(folder, tiny_training(30), [&] { return std::make_unique<NaturalObjective>(tiny_natural(30), tiny_teacher(), set, val); },
                               {"state.safetensors", "model.safetensors", "best.safetensors"});
  const auto state = read_safetensors(folder / "whole/state.safetensors").tensors;
  EXPECT_TRUE(state.contains("objective/critic.weights.head.weight"));
  EXPECT_TRUE(state.contains("objective/critic.optimizer.m.0"));
  EXPECT_GT(state.at("objective/targets.sums").abs().sum().item<double>(), 0);
}

TEST(Natural, EveryLossReachesTheWeights) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  auto recipe = tiny_natural(30);
  recipe.losses.memory = 0.5;
  NaturalObjective objective(recipe, tiny_teacher(), set, val, tiny_memory());
  randomise_spnn(static_cast<Spnn&>(objective.module()), Rng(1));
  const auto parts = objective.losses(20, {});
  ASSERT_EQ(parts.size(), 11U);
  for (const auto& [name, value] : parts) {
    const auto gradients = torch::autograd::grad({value}, objective.parameters(), {}, /*retain_graph=*/true, /*create_graph=*/false, /*allow_unused=*/true);
    double size = 0;
    for (const auto& gradient : gradients) size += gradient.defined() ? gradient.abs().sum().item<double>() : 0;
    EXPECT_GT(size, 1e-8) << name;
  }
}

TEST(Natural, MovesAreNotAskedForBeforeTheirTime) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  NaturalObjective objective(tiny_natural(30), tiny_teacher(), set, val);
  const auto early = objective.losses(2, {}), late = objective.losses(20, {});
  ASSERT_EQ(early.size(), late.size());
  for (std::size_t i = 0; i < early.size(); ++i) {
    EXPECT_EQ(early[i].first, late[i].first);
    if (early[i].first == "memory") continue;   // there is none here
    const bool of_moves = i >= 4;
    EXPECT_EQ(early[i].second.item<double>() == 0, of_moves) << early[i].first;
  }
}

TEST(Natural, AMemoryPullsAnswersToThoseOfTheEarlierNetwork) {
  const auto set = tiny_dataset(256), val = tiny_dataset(128, 2);
  const auto memory = tiny_memory();
  const auto apart = [&](double weight) {
    auto recipe = tiny_natural(60);
    recipe.losses.task = 0;
    recipe.losses.memory = weight;
    recipe.natural_from = 1000;
    const TemporaryFolder folder;
    NaturalObjective objective(recipe, tiny_teacher(), set, val, weight > 0 ? memory : nullptr);
    train_in(folder / "run", objective, recipe.train);
    const auto said = [&](const Spnn& net) { return torch::sigmoid(outputs_over(val, [&](const Tensor& x) { return net.forward(x); })); };
    return torch::mse_loss(said(static_cast<Spnn&>(objective.module())), said(*memory)).item<double>();
  };
  EXPECT_LT(apart(2), 0.5 * apart(0));
}

TEST(Natural, AMemoryIsGivenWhereItsLossIs) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  EXPECT_THROW(NaturalObjective(tiny_natural(30), tiny_teacher(), set, val, tiny_memory()), Error);
  auto recipe = tiny_natural(30);
  recipe.losses.memory = 1;
  EXPECT_THROW(NaturalObjective(recipe, tiny_teacher(), set, val), Error);
}

TEST(Natural, LearnsItsLabelsAndItsMoves) {
  const auto set = tiny_dataset(256), val = tiny_dataset(128, 2);
  auto recipe = tiny_natural(120);
  recipe.natural_from = 30;
  const TemporaryFolder folder;
  NaturalObjective objective(recipe, tiny_teacher(), set, val);
  const auto before = objective.validate();
  train_in(folder / "run", objective, recipe.train);
  const auto after = objective.validate();
  EXPECT_GT(after.figures[0].second, before.figures[0].second);
  EXPECT_GT(after.figures[0].second, 0.85);
}

TEST(Natural, RecipesSurviveAFile) {
  auto recipe = tiny_natural(30);
  recipe.targets.exclusive = {{"a", "b"}};
  recipe.targets.favour = {{"a", 2}};
  const Json json(recipe);
  EXPECT_EQ(Json(json.get<NaturalRecipe>()), json);
  auto bad = json;
  bad["losses"]["teacher"] = -1;
  EXPECT_THROW(bad.get<NaturalRecipe>(), Error);
}

TEST(MoveTargets, DrawRareAttributesAsOftenAsCommonOnes) {
  const auto set = uneven_labels(4000);
  const MoveTargets targets({.swapped = 0, .balance = 0.5}, set);
  const auto y = (set.labels * 2 - 1) * 2;
  const auto drawn = targets.draw(y, set.labels, Rng(3));
  const auto share = drawn.set.mean(0);
  EXPECT_GT(share.min().item<double>(), 0.6 * share.max().item<double>());
  // A hat is taken off more often than hats are met, and every set attribute goes to the side where it was not.
  const auto taken = (drawn.set * set.labels).sum(0)[0].item<double>() / set.labels.sum(0)[0].item<double>();
  EXPECT_GT(taken, share[0].item<double>());
  EXPECT_TRUE(torch::equal(drawn.on.masked_select(drawn.set.gt(0)), (1 - set.labels).masked_select(drawn.set.gt(0))));
  EXPECT_TRUE(torch::equal(drawn.y.masked_select(drawn.set.eq(0)), y.masked_select(drawn.set.eq(0))));
  EXPECT_TRUE(drawn.y.gt(0).eq(drawn.on.gt(0)).masked_select(drawn.set.gt(0)).all().item<bool>());
}

TEST(MoveTargets, ShowPhotosThatHaveWhatWasSet) {
  const auto set = uneven_labels(4000);
  const MoveTargets targets({.swapped = 0.25, .exclusive = {{"Blond", "Black"}}}, set);
  const auto drawn = targets.draw((set.labels * 2 - 1) * 2, set.labels, Rng(3));
  ASSERT_EQ(drawn.like.size(0), 3000);
  const auto theirs = set.labels.index_select(0, drawn.like), asked = drawn.set.narrow(0, 0, 3000), on = drawn.on.narrow(0, 0, 3000);
  const auto meets = theirs.eq(on).logical_or(asked.lt(0.5)).all(1);
  EXPECT_GT(meets.to(torch::kFloat32).mean().item<double>(), 0.95);   // a few wishes for three are rarer than the photos looked at
  EXPECT_TRUE(meets.masked_select(asked.sum(1).eq(1)).all().item<bool>());
}

TEST(Critic, LearnsToFindAWishOnlyInRealImagesThatHaveIt) {
  CriticTraining training({.widths = {8, 16}, .lr = 2e-3, .r1 = 0.1, .r1_every = 4}, {.channels = 3, .image_size = 8, .wishes = 2}, Rng(1));
  Communicator alone;
  // The wish is a bright top; moved images have a top that is only half as bright.
  const auto with_top = [](double brightness, std::uint64_t seed) {
    auto x = 0.2 * Rng(seed).randn({16, 3, 8, 8});
    x.narrow(2, 0, 3).add_(brightness);
    return x;
  };
  auto wish = torch::zeros({16, 2});
  wish.select(1, 1).fill_(1);
  for (std::int64_t k = 0; k < 150; ++k) {
    const auto seed = static_cast<std::uint64_t>(3 * k + 10);
    training.step(k, {.photos = with_top(1, seed), .moved = with_top(0.5, seed + 1), .before = with_top(0, seed + 2), .wish = wish}, alone);
  }
  const auto said = [&](double brightness) { return met(training.critic().look(with_top(brightness, 5)), wish).mean().item<double>(); };
  EXPECT_GT(said(1), 0.5);
  EXPECT_LT(said(0.5), -0.5);
  EXPECT_LT(said(0), -0.5);
}

TEST(MoveTargets, TakeValuesAsImagesHaveThem) {
  const auto set = uneven_labels(4000);
  MoveTargets targets({.swapped = 0}, set);
  Communicator alone;
  const auto y = (set.labels * 2 - 1) * torch::tensor({1.0, 2.0, 3.0, 4.0}) * (1 + 0.1 * Rng(5).randn({4000, 4}));
  targets.observe(y, set.labels);
  targets.after_step(alone);
  const auto drawn = targets.draw(y, set.labels, Rng(3));
  for (std::int64_t a = 0; a < 4; ++a) {
    const auto values = drawn.y.select(1, a).masked_select(drawn.set.select(1, a).gt(0)).abs();
    EXPECT_NEAR(values.mean().item<double>(), static_cast<double>(a + 1), 0.05 * static_cast<double>(a + 1));
    EXPECT_NEAR(values.std().item<double>(), 0.1 * static_cast<double>(a + 1), 0.03 * static_cast<double>(a + 1));
  }
}

TEST(MoveTargets, WhatExcludesEachOtherIsNeverSetTogether) {
  const auto set = uneven_labels(2000);
  const MoveTargets targets({.swapped = 0, .exclusive = {{"Blond", "Black"}}}, set);
  const auto y = (set.labels * 2 - 1) * 2;
  const auto drawn = targets.draw(y, set.labels, Rng(4));
  const auto both = drawn.y.select(1, 2).gt(0).logical_and(drawn.y.select(1, 3).gt(0));
  EXPECT_EQ(both.sum().item<std::int64_t>(), 0);
  EXPECT_THROW(MoveTargets({.exclusive = {{"Blond", "Green"}}}, set), Error);
}

TEST(MoveTargets, SwappedImagesTakeAllOutputsOfAnother) {
  const auto set = uneven_labels(64);
  const MoveTargets targets({.swapped = 0.5}, set);
  const auto y = Rng(6).randn({64, 4});
  const auto drawn = targets.draw(y, set.labels, Rng(4));
  EXPECT_EQ(drawn.edited, 32);
  EXPECT_TRUE(torch::equal(drawn.y.narrow(0, 33, 31), y.narrow(0, 32, 31)));
  EXPECT_EQ(drawn.set.narrow(0, 32, 32).sum().item<double>(), 0);
}

TEST(MoveTargets, DoNotDependOnHowABatchIsCut) {
  const auto set = uneven_labels(64);
  const MoveTargets targets({.swapped = 0}, set);
  const auto y = Rng(6).randn({64, 4});
  const auto whole = targets.draw(y, set.labels, Rng(4));
  for (const std::int64_t rank : {0, 1}) {
    const auto part = targets.draw(y.narrow(0, 32 * rank, 32), set.labels.narrow(0, 32 * rank, 32), Rng(4), {rank, 2});
    EXPECT_TRUE(torch::equal(part.y, whole.y.narrow(0, 32 * rank, 32)));
  }
}

TEST(Critic, LearnsToTellPhotosFromOthersAndIsHeldBack) {
  CriticTraining critic({.widths = {8, 16}, .lr = 2e-3, .r1 = 0.1, .r1_every = 4}, {.channels = 3, .image_size = 8}, Rng(1));
  Communicator alone;
  double first = 0, last = 0;
  for (std::int64_t step = 0; step < 60; ++step) {
    const auto smooth = torch::avg_pool2d(Rng(2).fork(static_cast<std::uint64_t>(step)).randn({16, 3, 10, 10}), 3, 1);
    const auto grain = 0.3 * Rng(3).fork(static_cast<std::uint64_t>(step)).randn({16, 3, 8, 8});
    const auto loss = critic.step(step, {.photos = smooth, .moved = grain, .before = {}, .wish = {}}, alone);
    if (step < 8) first += loss / 8;
    if (step >= 52) last += loss / 8;
  }
  EXPECT_LT(last, 0.7 * first);
  const auto photos = torch::avg_pool2d(Rng(7).randn({16, 3, 10, 10}), 3, 1);
  const CriticSample same{.photos = photos, .moved = photos, .before = {}, .wish = {}};
  EXPECT_GT(critic.loss(same, /*penalised=*/true).item<double>(), critic.loss(same, false).item<double>());
}
