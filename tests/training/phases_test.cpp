#include <spnn/projection/nlbp.h>
#include <spnn/projection/spnn_projector.h>
#include <spnn/training/classifier.h>
#include <spnn/training/inverse.h>
#include <spnn/training/prior.h>

#include "support/damage.h"
#include "support/tensor_near.h"
#include "training/tiny.h"

using namespace spnn;
using namespace spnn::testing;
using ::testing::HasSubstr;

namespace {

double part(const Losses& losses, const std::string& name) {
  for (const auto& [key, value] : losses) {
    if (key == name) return value.item<double>();
  }
  ADD_FAILURE() << "no part called " << name;
  return NAN;
}

std::shared_ptr<Spnn> random_net() {
  auto net = std::make_shared<Spnn>(tiny_network());
  randomise_spnn(*net, Rng(3));
  return net;
}

InverseRecipe inverse_recipe(const std::string& name, std::int64_t steps, double lr) {
  const Json train = {{"steps", steps}, {"batch", 32}, {"lr", lr}, {"warmup", 5}, {"decay_from", 0.3}, {"clip", 0.0},
                      {"validate_every", steps}, {"checkpoint_every", steps}};
  return Json{{"recipe", name}, {"augment", {{"flip", false}}}, {"train", train}}.get<InverseRecipe>();
}

// Trains r of a random network and returns the objective's network.
std::shared_ptr<Spnn> train_inverse(const std::string& recipe, std::int64_t steps, double lr) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  const auto net = random_net();
  const TemporaryFolder folder;
  InverseObjective objective(inverse_recipe(recipe, steps, lr), {.net = net}, set, val);
  train_in(folder / "run", objective, inverse_recipe(recipe, steps, lr).train);
  return net;
}

}  // namespace

// A batch larger than the data set is the data set.
TEST(Prior, TrainsOnASetSmallerThanItsBatch) {
  const auto set = tiny_dataset(5), val = tiny_dataset(4, 2);
  PriorConfig config{.unet = {.image_size = 8, .ch = 8, .ch_mult = {1, 2}, .num_res_blocks = 1, .attn_resolutions = {}, .norm_groups = 4}};
  config.train = tiny_training(3);
  PriorObjective objective(config, set, val);
  const auto whole = part(objective.losses(0, {}), "loss");
  EXPECT_TRUE(std::isfinite(whole));
  double shared = 0;
  for (std::int64_t rank = 0; rank < 2; ++rank) shared += part(objective.losses(0, {.rank = rank, .size = 2}), "loss") * (rank == 0 ? 2 : 3) / 5.0;
  EXPECT_NEAR(shared, whole, 1e-5) << "two processes see all of it";
  EXPECT_EQ(Json::parse(objective.metadata().at("schedule")).at("steps"), 1000);
}

TEST(PhaseOne, PartsAreTheLiteralLosses) {
  const auto set = tiny_dataset(32), val = tiny_dataset(16, 2);
  ClassifierRecipe recipe;
  recipe.network = tiny_network();
  recipe.losses = {.task = 1, .surjectivity = 40, .stability = 40, .regression = 2, .range = 3};
  recipe.augment.flip = false;
  recipe.train = tiny_training(10);
  recipe.train.batch = 32;
  ClassifierObjective objective(recipe, set, val);
  auto& net = dynamic_cast<Spnn&>(objective.module());
  randomise_spnn(net, Rng(3));
  const auto losses = objective.losses(0, {});
  const auto batch = make_batch(set, BatchOrder(32, 32, recipe.train.seed).indices(0));
  const auto y = net.forward(batch.images), x_hat = net.pinv(y);
  EXPECT_NEAR(part(losses, "task"), task_loss(Task::attributes, y, batch.labels).item<double>(), 1e-5);
  EXPECT_NEAR(part(losses, "stability"), 40 * (x_hat - batch.images).square().mean().item<double>(), 1e-3);
  EXPECT_LT(part(losses, "surjectivity"), 1e-6);
  double regression = 0;
  const auto levels = net.levels(batch.images);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    regression += (levels[l].z - net.r(l, levels[l].y)).square().mean().item<double>();
  }
  EXPECT_NEAR(part(losses, "regression"), 2 * regression, 1e-4);
  const SpnnProjector residual(std::shared_ptr<Spnn>(&net, [](Spnn*) {}),
                               {.pseudo_inverse = PseudoInverse::learned, .metric = Metric::residual});
  const auto outside = torch::relu(residual.nlbp(batch.images, y.roll(1, 0), 1.0).abs() - 1).square().mean().item<double>();
  EXPECT_GT(outside, 1e-4) << "a batch on which the term says something";
  EXPECT_NEAR(part(losses, "range"), 3 * outside, 1e-3 * outside);
}

TEST(PhaseOne, RecipesCarryThePapersWeights) {
  const Json file = {{"recipe", "paper"}, {"network", to_json(tiny_network())}, {"train", Json::object()}};
  const auto paper = file.get<ClassifierRecipe>().losses;
  EXPECT_EQ(paper.task, 1);
  EXPECT_EQ(paper.surjectivity, 40);
  EXPECT_EQ(paper.stability, 40);
  auto other = file;
  other["losses"] = {{"stability", 7}};
  EXPECT_EQ(other.get<ClassifierRecipe>().losses.stability, 7);
  EXPECT_EQ(other.get<ClassifierRecipe>().losses.surjectivity, 40);
  other["recipe"] = "slow";
  EXPECT_THAT(refusal([&] { other.get<ClassifierRecipe>(); }), HasSubstr("expected paper or fast, got 'slow'"));
  EXPECT_EQ(Json(file.get<ClassifierRecipe>()).get<ClassifierRecipe>().network, tiny_network());
}

TEST(PhaseOne, GuidanceOfTheRecipeGoesIntoTheModelsFile) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  Json file = {{"network", to_json(tiny_network())}, {"train", Json::object()}};
  EXPECT_FALSE(Json(file.get<ClassifierRecipe>()).contains("guidance")) << "a run that began without can be resumed";
  EXPECT_FALSE(ClassifierObjective(file.get<ClassifierRecipe>(), set, val).metadata().contains("guidance"));
  file["guidance"] = {{"reconstruct_window", 1000}};
  const ClassifierObjective objective(Json(file.get<ClassifierRecipe>()).get<ClassifierRecipe>(), set, val);
  EXPECT_EQ(guidance_windows_in(objective.metadata(), "").reconstruct, 1000);
  file["guidance"] = {{"window", 1000}};
  EXPECT_THAT(refusal([&] { file.get<ClassifierRecipe>(); }), HasSubstr("guidance: expected one of edit_window, reconstruct_window, got 'window'"));
}

TEST(PhaseOne, LearnsABlackBox) {
  const auto set = tiny_dataset(128), val = tiny_dataset(64, 2);
  const auto black_box = [](const Tensor& x) { return x.mean({2, 3}) * 3; };   // [B, 3]
  ClassifierRecipe recipe;
  recipe.network = tiny_network();
  recipe.augment.flip = false;
  recipe.train = tiny_training(150);
  ClassifierObjective objective(recipe, set, val, black_box);
  const double before = part(objective.losses(1000, {}), "task");
  const TemporaryFolder folder;
  train_in(folder / "run", objective, recipe.train);
  EXPECT_LT(part(objective.losses(1000, {}), "task"), 0.1 * before);
}

TEST(AdaptiveWeights, MoveTowardsWhatIsHardAndKeepTheirMean) {
  AdaptiveWeights weights(3, {.enabled = true, .every = 5, .power = 1, .limit = 2});
  Communicator alone;
  for (std::int64_t step = 0; step < 5; ++step) {
    EXPECT_THAT(weights.weights(), TensorNear(torch::ones({3}), 0)) << "before the first update";
    weights.observe(torch::tensor({0.1f, 0.3f, 0.2f}));
    weights.after_step(step, alone);
  }
  const auto& w = weights.weights();
  EXPECT_NEAR(w.mean().item<double>(), 1, 1e-6);
  EXPECT_LT(w[0].item<double>(), w[2].item<double>());
  EXPECT_LT(w[2].item<double>(), w[1].item<double>());
  AdaptiveWeights other(3, {.enabled = true, .every = 5, .power = 1, .limit = 2});
  other.restore(weights.state());
  EXPECT_TRUE(torch::equal(other.weights(), w));
}

TEST(PhaseTwo, NaturalLossAloneConvergesToTheConstantOfZero) {
  const auto net = train_inverse("natural", 600, 1e-2);
  const torch::NoGradGuard no_grad;
  const auto q0 = net->complete(torch::zeros({1, 3, 8, 8})).z;
  const auto x = make_batch(tiny_dataset(32, 2), torch::arange(32)).images;
  net->descend(net->forward(x), [&](std::size_t l, const Tensor& y_l) {
    const auto z = net->r(l, y_l);
    EXPECT_LT((z - q0[l]).square().mean().sqrt().item<double>(), 0.02) << "level " << l;
    return z;
  });
}

TEST(PhaseTwo, StabilityFallsWithThePaperAndTheFastRecipe) {
  const auto val = tiny_dataset(32, 2);
  for (const auto* recipe : {"paper", "fast"}) {
    const double before = stability_over(val, *random_net(), "r", 32);
    const double after = stability_over(val, *train_inverse(recipe, 150, 1e-2), "r", 32);
    EXPECT_LT(after, 0.7 * before) << recipe;
  }
}

TEST(PhaseTwo, LeavesGAloneAndTrainsASetOfItsOwnForMinNorm) {
  const auto before = random_net();
  const auto after = train_inverse("min-norm", 40, 1e-2);
  const auto kept = before->g_parameters(), now = after->g_parameters();
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(torch::equal(kept[i], now[i]));
  const auto r_before = before->r_parameters(), r_after = after->r_parameters();
  for (std::size_t i = 0; i < r_before.size(); ++i) EXPECT_TRUE(torch::equal(r_before[i], r_after[i]));
  EXPECT_TRUE(after->has_r_set("min_norm"));
  EXPECT_EQ(after->config().r_sets, std::vector<std::string>{"min_norm"});
}
