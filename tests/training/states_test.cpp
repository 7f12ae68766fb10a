// What is left to resume from when weights explode, bits flip and processes are killed.

#include <spnn/checkpoint/safetensors.h>
#include <spnn/training/judge.h>
#include <spnn/training/state_files.h>

#include <ATen/Parallel.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "support/damage.h"
#include "training/tiny.h"

using namespace spnn;
using namespace spnn::testing;
using ::testing::HasSubstr;

namespace {

JudgeRecipe small_judge(std::int64_t steps) {
  JudgeRecipe recipe;
  recipe.judge = {.image_size = 8, .widths = {4, 8}, .blocks = {1, 1}, .squeeze = 4, .features = 6, .outputs = 3, .norm_groups = 2};
  recipe.augment = {.flip = false, .shift = 1};
  recipe.train = tiny_training(steps);
  return recipe;
}

// A finite loss, then something that is not finite: in the gradient, or in the weights after the update.
class Explodes final : public Objective {
 public:
  enum class Where { gradient, weights };
  Explodes(Objective& inner, std::int64_t step, Where where) : inner_(inner), step_(step), where_(where) {}
  torch::nn::Module& module() override { return inner_.module(); }
  Losses losses(std::int64_t step, Share share) override {
    auto parts = inner_.losses(step, share);
    // sqrt of 0 is 0, and its slope is infinite
    if (step == step_ && where_ == Where::gradient) parts.emplace_back("steep", (module().parameters().front() * 0).abs().sum().sqrt() * 0 + 0);
    return parts;
  }
  void after_step(std::int64_t step, Communicator&) override {
    const torch::NoGradGuard no_grad;
    if (step == step_ && where_ == Where::weights) module().parameters().front().view({-1})[0] = INFINITY;
  }
  Validation validate() override { return inner_.validate(); }
  std::map<std::string, std::string> metadata() const override { return inner_.metadata(); }

 private:
  Objective& inner_;
  std::int64_t step_;
  Where where_;
};

void flip_bit(const std::filesystem::path& file, std::size_t bit) {
  auto bytes = file_text(file);
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  write_file(file, bytes);
}

std::int64_t step_in(const std::filesystem::path& file) { return std::stoll(read_safetensors(file).metadata.at("step")); }

struct Messages final : Observer {
  std::string text;
  void message(const std::string& line) override { text += line + "\n"; }
};

}  // namespace

TEST(TrainingStates, WhatExplodesAfterAFiniteLossIsNeverSaved) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  for (const auto where : {Explodes::Where::gradient, Explodes::Where::weights}) {
    const TemporaryFolder folder;
    JudgeObjective objective(small_judge(20), set, val);
    // A checkpoint every 7 steps, a validation at the end. Weights explode in the step before a checkpoint: later, the next
    // loss would tell.
    Explodes explodes(objective, where == Explodes::Where::gradient ? 9 : 13, where);
    const auto text = refusal([&] { train_in(folder / "run", explodes, tiny_training(20)); });
    EXPECT_THAT(text, HasSubstr(where == Explodes::Where::gradient ? "training step 9: expected a finite gradient, got"
                                                                   : "expected finite weights, got NaN or infinity in '"));
    EXPECT_EQ(step_in(folder / "run/state.safetensors"), 7);
  }
}

TEST(TrainingStates, OneThousandFlippedBitsAreAllNoticedAndTheStateBeforeIsTaken) {
  const TemporaryFolder folder;
  const RunDirectory run(folder / "run", Json::object(), false);
  StateFiles states(run);
  const Rng rng(3);
  states.save({.tensors = {{"weights/a", rng.randn({20, 5})}, {"ema/0", rng.randn({7})}}, .step = 100});
  states.save({.tensors = {{"weights/a", rng.randn({20, 5})}, {"ema/0", rng.randn({7})}}, .step = 200, .best = 0.25});
  const auto newest = run.file("state.safetensors");
  const auto good = file_text(newest);
  EXPECT_EQ(StateFiles(run).load().state.step, 200);
  std::mt19937 random(11);
  int noticed = 0;
  for (int k = 0; k < 1000; ++k) {
    write_file(newest, good);
    flip_bit(newest, random() % (8 * good.size()));
    const auto found = StateFiles(run).load();
    noticed += found.note.empty() ? 0 : 1;
    ASSERT_EQ(found.state.step, 100) << found.note;
  }
  EXPECT_EQ(noticed, 1000);
  std::printf("[ damage   ] %d of 1000 flipped bits of a state of %zu bytes noticed\n", noticed, good.size());
}

// Also of the header, bit for bit: names, shapes, metadata and the checksum itself.
TEST(TrainingStates, EveryBitOfTheHeaderCounts) {
  const TemporaryFolder folder;
  const RunDirectory run(folder / "run", Json::object(), false);
  for (const int step : {100, 200}) StateFiles(run).save({.tensors = {{"weights/a", torch::ones({3})}}, .step = step});
  {
    StateFiles states(run);
    states.load();
    states.save({.tensors = {{"weights/a", torch::ones({3})}}, .step = 300});
  }
  const auto newest = run.file("state.safetensors");
  const auto good = file_text(newest);
  const auto header = good.size() - 12;
  for (std::size_t bit = 0; bit < 8 * header; ++bit) {
    write_file(newest, good);
    flip_bit(newest, bit);
    ASSERT_NE(StateFiles(run).load().note, "") << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST(TrainingStates, ADamagedStateCostsOneCheckpointAndNoBitOfTheResult) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  const TemporaryFolder folder;
  JudgeObjective whole(small_judge(40), set, val);
  train_in(folder / "whole", whole, tiny_training(40));
  JudgeObjective part(small_judge(40), set, val);
  StopsAfter observer(20);
  EXPECT_THROW(train_in(folder / "run", part, tiny_training(40), observer), Interrupted);
  EXPECT_EQ(step_in(folder / "run/state.safetensors"), 20);
  EXPECT_EQ(step_in(folder / "run/state.previous.safetensors"), 14);
  flip_bit(folder / "run/state.safetensors", 8 * (std::filesystem::file_size(folder / "run/state.safetensors") - 100));   // a weight's
  JudgeObjective again(small_judge(40), set, val);
  Messages said;
  train_in(folder / "run", again, tiny_training(40), said, /*resume=*/true);
  EXPECT_THAT(said.text, HasSubstr("the file is damaged"));
  EXPECT_THAT(said.text, HasSubstr("the state before it is taken"));
  EXPECT_THAT(said.text, HasSubstr("continuing after step 14"));
  for (const std::string name : {"state.safetensors", "model.safetensors", "best.safetensors"}) {
    expect_same_tensors(folder / ("whole/" + name), folder / ("run/" + name));
  }
}

// The good one must not be pushed out by the damaged one when the next state is saved.
TEST(TrainingStates, ADamagedStateIsNotKept) {
  const TemporaryFolder folder;
  const RunDirectory run(folder / "run", Json::object(), false);
  const auto state = [](std::int64_t step) { return TrainingState{.tensors = {{"weights/a", torch::ones({3})}}, .step = step}; };
  {
    StateFiles states(run);
    states.save(state(1));
    states.save(state(2));
  }
  flip_bit(run.file("state.safetensors"), 100);
  StateFiles states(run);
  EXPECT_EQ(states.load().state.step, 1);
  states.save(state(3));
  EXPECT_EQ(step_in(run.file("state.safetensors")), 3);
  EXPECT_EQ(step_in(run.file("state.previous.safetensors")), 1);
}

namespace {

// Tells the parent process which step was reported done.
class Reports final : public Observer {
 public:
  explicit Reports(volatile std::int64_t* done) : done_(done) {}
  bool cancelled() const override {
    *done_ = *done_ + 1;
    return false;
  }

 private:
  volatile std::int64_t* done_;
};

}  // namespace

// kill -9 at random moments of a training that saves every step: no state is lost that was reported, none is half.
TEST(TrainingStates, KilledAtManyMomentsLosesNothingThatWasReported) {
  constexpr int kills = 200;
  constexpr std::int64_t steps = 3000;
  const auto set = tiny_dataset(32), val = tiny_dataset(16, 2);
  const TemporaryFolder folder;
  auto config = tiny_training(steps);
  config.batch = 4;
  config.checkpoint_every = 1;
  auto recipe = small_judge(steps);
  recipe.train = config;
  auto* const shared = static_cast<std::int64_t*>(mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(shared, MAP_FAILED);
  volatile std::int64_t* const done = shared;
  std::mt19937 random(5);
  std::int64_t last = 0;
  for (int k = 0; k < kills; ++k) {
    *done = last;
    const pid_t child = fork();
    if (child == 0) {
      at::set_num_threads(1);
      try {
        JudgeObjective objective(recipe, set, val);
        Reports reports(done);
        train_in(folder / "run", objective, config, reports, std::filesystem::exists(folder / "run/run.json"));
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        _exit(1);
      }
      _exit(0);
    }
    // Three times in four a moment after it has come further, however slow the machine is; otherwise any moment of its start.
    for (int wait = 0; k % 4 != 3 && *done <= last && wait < 20000; ++wait) usleep(500);
    usleep(static_cast<useconds_t>(random() % 20000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it ended before it was killed for the " << k + 1 << "th time";
    const std::int64_t reported = *done;
    if (!std::filesystem::exists(folder / "run/state.safetensors")) {
      ASSERT_EQ(reported, 0);
      continue;
    }
    const RunDirectory run(folder / "run", {{"trainer", "test"}}, true);
    const auto found = StateFiles(run).load();
    ASSERT_EQ(found.note, "");
    ASSERT_GE(found.state.step, reported) << "after kill " << k + 1;
    last = found.state.step;
  }
  munmap(shared, sizeof(std::int64_t));
  std::printf("[ kill -9  ] %d kills of a training over %lld steps: no state lost\n", kills, static_cast<long long>(last));
  EXPECT_GT(last, kills / 2);
}
