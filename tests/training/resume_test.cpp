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
  expect_same_when_interrupted(folder, tiny_training(30), [&] { return std::make_unique<ClassifierObjective>(tiny_classifier(30), set, val); },
                               {"state.safetensors", "model.safetensors", "best.safetensors"});
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

// A process that is killed before its first checkpoint has written rows that the resumed one writes again.
TEST(Training, ResumedBeforeItsFirstCheckpointHasEveryRowOnce) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  const TemporaryFolder folder;
  auto config = tiny_training(40);
  config.checkpoint_every = 40;
  const auto make = [&] { return std::make_unique<JudgeObjective>(tiny_judge(40), set, val); };
  train_in(folder / "whole", *make(), config);
  class Killed {};
  struct DiesAfterTwenty : Observer {
    void progress(std::int64_t done, std::int64_t, const std::string&) override {
      if (done >= 20) throw Killed{};   // nothing is saved on this way out
    }
  } dying;
  EXPECT_THROW(train_in(folder / "killed", *make(), config, dying), Killed);
  ASSERT_FALSE(std::filesystem::exists(folder / "killed/state.safetensors")) << "or it is no test of this";
  Observer quiet;
  train_in(folder / "killed", *make(), config, quiet, /*resume=*/true);
  const auto steps = [&](const std::string& run) {
    std::vector<std::string> all;
    std::istringstream lines(read_text(folder / (run + "/record.csv")));
    for (std::string line; std::getline(lines, line);) all.push_back(line.substr(0, line.find(',')));
    return all;
  };
  EXPECT_EQ(steps("killed"), steps("whole"));
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
