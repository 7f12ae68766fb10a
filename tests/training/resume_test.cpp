#include <spnn/checkpoint/safetensors.h>
#include <spnn/training/classifier.h>
#include <spnn/training/judge.h>

#include "support/damage.h"
#include "training/tiny.h"

using namespace spnn;
using namespace spnn::testing;
using ::testing::HasSubstr;

namespace {

JudgeRecipe tiny_judge(std::int64_t steps) {
  JudgeRecipe recipe;
  recipe.judge = {.image_size = 8, .widths = {8, 16}, .blocks = {1, 1}, .squeeze = 4, .features = 12, .outputs = 3};
  recipe.dropout = 0.2;
  recipe.label_smoothing = 0.02;
  recipe.augment = {.flip = false, .shift = 1};
  recipe.train = tiny_training(steps);
  return recipe;
}

ClassifierRecipe tiny_classifier(std::int64_t steps) {
  ClassifierRecipe recipe;
  recipe.network = tiny_network();
  recipe.losses = {.task = 1, .surjectivity = 0, .stability = 0, .regression = 0.1};
  recipe.adaptive_weights = {.enabled = true, .every = 4};
  recipe.augment = {.flip = false, .shift = 1};
  recipe.train = tiny_training(steps);
  return recipe;
}

void expect_same_files(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto one = read_safetensors(a), two = read_safetensors(b);
  ASSERT_EQ(one.tensors.size(), two.tensors.size());
  for (const auto& [name, value] : one.tensors) EXPECT_TRUE(torch::equal(value, two.tensors.at(name))) << name;
}

// What training itself could do to a loss, at one step.
class Poisoned final : public Objective {
 public:
  Poisoned(Objective& inner, std::int64_t step) : inner_(inner), step_(step) {}
  torch::nn::Module& module() override { return inner_.module(); }
  Losses losses(std::int64_t step, Share share) override {
    auto parts = inner_.losses(step, share);
    if (step == step_) parts.front().second = parts.front().second * NAN;
    return parts;
  }
  Validation validate() override { return inner_.validate(); }
  std::map<std::string, std::string> metadata() const override { return inner_.metadata(); }

 private:
  Objective& inner_;
  std::int64_t step_;
};

}  // namespace

TEST(Training, InterruptedAnywhereEndsWithTheSameBits) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  const TemporaryFolder folder;
  ClassifierObjective whole(tiny_classifier(30), set, val);
  train_in(folder / "whole", whole, tiny_training(30));
  for (bool first = true, done = false; !done; first = false) {
    ClassifierObjective part(tiny_classifier(30), set, val);
    StopsAfter observer(9);
    try {
      train_in(folder / "parts", part, tiny_training(30), observer, !first);
      done = true;
    } catch (const Interrupted&) {
    }
  }
  for (const std::string name : {"state.safetensors", "model.safetensors", "best.safetensors"}) {
    expect_same_files(folder / ("whole/" + name), folder / ("parts/" + name));
  }
}

TEST(Training, JudgeLearnsItsLabels) {
  const auto set = tiny_dataset(256), val = tiny_dataset(128, 2);
  const TemporaryFolder folder;
  JudgeObjective objective(tiny_judge(150), set, val);
  const double before = objective.validate().score;
  train_in(folder / "run", objective, tiny_training(150));
  EXPECT_GT(before, 0.3);
  EXPECT_LT(objective.validate().score, 0.05);
  EXPECT_EQ(read_safetensors(folder / "run/best.safetensors").metadata.at("kind"), "judge");
}

TEST(Training, NonFiniteLossNamesPartAndStepAndKeepsTheCheckpoint) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  const TemporaryFolder folder;
  ClassifierObjective objective(tiny_classifier(20), set, val);
  StopsAfter seven(7);
  EXPECT_THROW(train_in(folder / "run", objective, tiny_training(20), seven), Interrupted);
  const auto before = file_bytes(folder / "run/state.safetensors");
  Poisoned poisoned(objective, 9);
  Observer quiet;
  const auto text = refusal([&] { train_in(folder / "run", poisoned, tiny_training(20), quiet, /*resume=*/true); });
  EXPECT_THAT(text, HasSubstr("training step 9: expected a finite 'task' loss, got"));
  EXPECT_EQ(file_bytes(folder / "run/state.safetensors"), before);
}

TEST(RunDirectory, RefusesAnotherConfigurationOnResumeAndARunThatExists) {
  const TemporaryFolder folder;
  { const RunDirectory first(folder / "run", {{"config", {{"lr", 1}, {"train", {{"steps", 5}}}}}}, false); }
  EXPECT_THAT(refusal([&] { RunDirectory(folder / "run", {{"config", {{"lr", 1}}}}, false); }), HasSubstr("add --resume"));
  EXPECT_THAT(refusal([&] { RunDirectory(folder / "run", {{"config", {{"lr", 2}}}}, true); }),
              HasSubstr("expected /config/lr = 1, as the run was started, got 2"));
  EXPECT_EQ(refusal([&] { RunDirectory(folder / "run", {{"config", {{"train", {{"steps", 9}}}}}}, true); }), "");
}

TEST(RunDirectory, IsForOneTrainerAtATime) {
  const TemporaryFolder folder;
  const auto open = [&] { RunDirectory(folder / "run", Json::object(), true); };
  {
    const RunDirectory first(folder / "run", Json::object(), false);
    EXPECT_THAT(refusal(open), HasSubstr(fmt::format("expected a run in which nobody trains, got process {} at work in it", getpid())));
  }
  EXPECT_EQ(refusal(open), "");
}

TEST(RunDirectory, DropsRowsToRunAgainAndHalfRows) {
  const TemporaryFolder folder;
  RunDirectory run(folder / "run", Json::object(), false);
  for (const std::int64_t step : {20, 40, 60}) run.append("record.csv", step, {{"loss", 0.5}, {"rate", 1e-3}});
  const auto text = read_text(run.file("record.csv"));
  write_text_atomically(run.file("record.csv"), text + "4");   // killed while it wrote
  run.truncate("record.csv", 41);
  EXPECT_EQ(read_text(run.file("record.csv")), "step,loss,rate\n20,0.5,0.001\n40,0.5,0.001\n");
}
