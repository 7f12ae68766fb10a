// Training as users run it: real processes of the command, killed and started again, alone and in pairs.

#include <spnn/checkpoint/safetensors.h>
#include <spnn/image/image.h>
#include <spnn/training/judge.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "support/sockets.h"
#include "support/tensor_near.h"
#include "training/tiny.h"

using namespace spnn;
using namespace spnn::testing;
using namespace std::chrono_literals;

namespace {

const std::string command = std::string(SPNN_BINARY_DIR) + "/spnn";

// A folder of images with a table, and a judge's configuration.
void write_inputs(const TemporaryFolder& folder, std::int64_t steps) {
  const auto set = tiny_dataset(80);
  std::filesystem::create_directories(folder / "images");
  std::string table = "file,corner_0,corner_1,corner_2\n";
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const auto name = fmt::format("{:03}.png", i);
    write_image(folder / ("images/" + name), set.images[i]);
    table += name;
    for (int a = 0; a < 3; ++a) table += fmt::format(",{}", set.labels[i][a].item<float>() > 0 ? 1 : -1);
    table += "\n";
  }
  write_file(folder / "images/attributes.csv", table);
  JudgeRecipe recipe;
  // Two groups: with one channel per group, a bias before the norm has no gradient but rounding, which Adam makes large.
  recipe.judge = {.image_size = 8, .widths = {8, 16}, .blocks = {1, 1}, .squeeze = 4, .features = 12, .outputs = 3,
                  .norm_groups = 2};
  recipe.train = tiny_training(steps);
  recipe.train.validate_every = 50;
  recipe.train.checkpoint_every = 3;
  write_file(folder / "judge.json", Json(recipe).dump());
}

using Variables = std::vector<std::pair<std::string, std::string>>;

pid_t start(const TemporaryFolder& folder, const std::string& run, bool resume, const Variables& variables = {}) {
  std::vector<std::string> words = {command, "--threads", "1", "train", "judge", folder / "judge.json", "--data",
                                    folder / "images", "--run", folder / run};
  if (resume) words.push_back("--resume");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const auto log = (folder / (run + ".log")).string();
  const pid_t child = fork();
  if (child == 0) {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    if (!std::freopen(log.c_str(), "a", stderr)) _exit(125);
    execv(command.c_str(), argv.data());
    _exit(126);
  }
  return child;
}

int finish(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Waits at most so long; -1 if it is still there.
int finish_within(pid_t child, std::chrono::seconds longest) {
  const auto until = std::chrono::steady_clock::now() + longest;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) return -1;
    std::this_thread::sleep_for(20ms);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Processes meet in the run directory: no port is asked for.
Variables rank_of_two(int rank) { return {{"RANK", std::to_string(rank)}, {"WORLD_SIZE", "2"}}; }

void wait_for(const std::filesystem::path& file) {
  for (int k = 0; k < 6000 && !std::filesystem::exists(file); ++k) std::this_thread::sleep_for(10ms);
}

std::map<std::string, Tensor> tensors(const TemporaryFolder& folder, const std::string& file) {
  return read_safetensors(folder / file).tensors;
}

std::filesystem::file_time_type time_of(const std::filesystem::path& file) {
  std::error_code missing;
  const auto time = std::filesystem::last_write_time(file, missing);
  return missing ? std::filesystem::file_time_type::min() : time;
}

}  // namespace

TEST(TrainingProcesses, KilledTenTimesEndsWithTheSameBits) {
  const TemporaryFolder folder;
  write_inputs(folder, 400);
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(finish(start(folder, "whole", false)), 0) << read_text(folder / "whole.log");
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - began;
  std::mt19937 random(7);
  for (int k = 0; k < 10; ++k) {
    const auto before = time_of(folder / "killed/state.safetensors");
    const auto child = start(folder, "killed", std::filesystem::exists(folder / "killed/run.json"));
    // Seven times some moment after it has come further, three times any moment of its start.
    while (k % 3 != 2 && time_of(folder / "killed/state.safetensors") == before) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(whole * std::uniform_real_distribution(0.0, k % 3 != 2 ? 0.06 : 0.2)(random));
    kill(child, SIGKILL);
    ASSERT_EQ(finish(child), 128 + SIGKILL) << "it ended before it was killed for the " << k + 1 << "th time";
  }
  ASSERT_EQ(finish(start(folder, "killed", true)), 0) << read_text(folder / "killed.log");
  for (const std::string file : {"/state.safetensors", "/model.safetensors", "/best.safetensors"}) {
    const auto a = tensors(folder, "whole" + file), b = tensors(folder, "killed" + file);
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, value] : a) EXPECT_TRUE(torch::equal(value, b.at(name))) << name;
  }
}

TEST(TrainingProcesses, TwoOverLoopbackEqualOne) {
  const TemporaryFolder folder;
  write_inputs(folder, 20);
  ASSERT_EQ(finish(start(folder, "one", false)), 0) << read_text(folder / "one.log");
  std::vector<pid_t> pair;
  for (const int rank : {1, 0}) pair.push_back(start(folder, "two", false, rank_of_two(rank)));
  for (const auto child : pair) ASSERT_EQ(finish(child), 0) << read_text(folder / "two.log");
  const auto a = tensors(folder, "one/state.safetensors"), b = tensors(folder, "two/state.safetensors");
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, value] : a) {
    if (name.starts_with("weights/")) {
      EXPECT_THAT(b.at(name), TensorNear(value, 1e-5)) << name;
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder / "two"))   // the meeting place is gone
    EXPECT_FALSE(entry.path().filename().string().starts_with(".ranks")) << entry.path();
}

// The store of the reference listens on every interface, and nine bytes to it grew the process to 24 GB.
TEST(TrainingProcesses, OnOneMachineNothingListensBeyondTheLoopback) {
  const TemporaryFolder folder;
  write_inputs(folder, 100'000);
  const auto leader = start(folder, "run", false, rank_of_two(0)), other = start(folder, "run", false, rank_of_two(1));
  Reached sockets;   // Gloo listens only while its processes look for each other
  for (int k = 0; k < 60'000 && !std::filesystem::exists(folder / "run/state.safetensors"); ++k, std::this_thread::sleep_for(1ms)) {
    for (const auto rank : {leader, other}) sockets.add(reached(rank));
  }
  EXPECT_FALSE(sockets.loopback.empty()) << "they talk over it: " << read_text(folder / "run.log");
  EXPECT_THAT(sockets.beyond, ::testing::IsEmpty());
  for (const auto rank : {leader, other}) kill(rank, SIGKILL);
  for (const auto rank : {leader, other}) finish(rank);
}

TEST(TrainingProcesses, ASecondTrainerOfARunIsRefused) {
  const TemporaryFolder folder;
  write_inputs(folder, 100'000);
  const auto first = start(folder, "run", false);
  wait_for(folder / "run/state.safetensors");
  const auto again = start(folder, "run", true);
  EXPECT_EQ(finish_within(again, 60s), 1);
  EXPECT_THAT(read_text(folder / "run.log"), ::testing::HasSubstr(fmt::format("expected a run in which nobody trains, got process {} at work in it", first)));
  kill(first, SIGKILL);
  finish(first);
}

// One began at 0 beside another at 400, and both waited for ever.
TEST(TrainingProcesses, RanksThatDoNotBeginAlikeEndWithASentence) {
  const TemporaryFolder folder;
  write_inputs(folder, 20);
  ASSERT_EQ(finish(start(folder, "run", false)), 0) << read_text(folder / "run.log");
  write_inputs(folder, 40);
  const auto leader = start(folder, "run", true, rank_of_two(0)), other = start(folder, "run", false, rank_of_two(1));
  EXPECT_EQ(finish_within(other, 60s), 1);
  EXPECT_EQ(finish_within(leader, 60s), 1);
  EXPECT_THAT(read_text(folder / "run.log"), ::testing::HasSubstr("process 1 of 2: expected to begin after step 20, as process 0 does, got 0"));
}

TEST(TrainingProcesses, ASignalToOneRankEndsBothWithTheirStateSaved) {
  const TemporaryFolder folder;
  write_inputs(folder, 100'000);
  const auto leader = start(folder, "run", false, rank_of_two(0)), other = start(folder, "run", false, rank_of_two(1));
  wait_for(folder / "run/state.previous.safetensors");
  kill(other, SIGTERM);
  EXPECT_EQ(finish_within(other, 60s), 130);
  EXPECT_EQ(finish_within(leader, 60s), 130);
  EXPECT_THAT(read_text(folder / "run.log"), ::testing::HasSubstr("interrupted after step"));
}

TEST(TrainingProcesses, ARankThatWaitsAloneHearsTheSignal) {
  const TemporaryFolder folder;
  write_inputs(folder, 20);
  for (const int rank : {0, 1}) {   // at the meeting place
    const auto alone = start(folder, fmt::format("run{}", rank), false, rank_of_two(rank));
    std::this_thread::sleep_for(4s);
    kill(alone, SIGTERM);
    // Killed by it if the command was not yet as far as to handle it.
    EXPECT_THAT(finish_within(alone, 60s), ::testing::AnyOf(130, 128 + SIGTERM)) << rank;
  }
  write_inputs(folder, 100'000);
  const auto leader = start(folder, "run", false, rank_of_two(0)), other = start(folder, "run", false, rank_of_two(1));
  wait_for(folder / "run/state.safetensors");
  kill(other, SIGSTOP);             // it is there, and does not answer
  std::this_thread::sleep_for(1s);
  kill(leader, SIGTERM);
  EXPECT_EQ(finish_within(leader, 60s), 130);
  kill(other, SIGKILL);
  finish(other);
}

TEST(TrainingProcesses, SayWhichVariableIsMissing) {
  const TemporaryFolder folder;
  write_inputs(folder, 20);
  EXPECT_EQ(finish(start(folder, "run", false, {{"WORLD_SIZE", "2"}})), 1);
  EXPECT_THAT(read_text(folder / "run.log"), ::testing::HasSubstr("RANK: expected a value, because WORLD_SIZE is 2"));
}
