// Training as users run it: real processes of the command, killed and started again, alone and in pairs.

#include <spnn/checkpoint/safetensors.h>
#include <spnn/image/image.h>
#include <spnn/training/judge.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

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
  // Two groups: with one channel a group, a bias before the norm has no gradient but rounding, which Adam makes large.
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

// A port of the loopback that nobody had a moment ago. Somebody may take it before it is used: who uses it tries again.
std::string free_port() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const int any = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool known = bind(any, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(any, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(any);
  return known ? std::to_string(ntohs(address.sin_port)) : "0";
}

// Two processes over the loopback; true when both end well.
bool train_as_two(const TemporaryFolder& folder, const std::string& run) {
  const auto port = free_port();
  std::vector<pid_t> pair;
  for (const std::string rank : {"0", "1"}) {
    pair.push_back(start(folder, run, false,
                         {{"RANK", rank}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", port}}));
  }
  bool good = true;
  if (finish(pair[0]) != 0) {   // nobody serves the other one now
    good = false;
    kill(pair[1], SIGKILL);
  }
  return finish(pair[1]) == 0 && good;
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
  constexpr int attempts = 5;
  std::string run = "two-0";
  bool done = train_as_two(folder, run);
  for (int k = 1; k < attempts && !done && read_text(folder / (run + ".log")).find("already in use") != std::string::npos; ++k) {
    run = fmt::format("two-{}", k);
    done = train_as_two(folder, run);
  }
  ASSERT_TRUE(done) << read_text(folder / (run + ".log"));
  const auto a = tensors(folder, "one/state.safetensors"), b = tensors(folder, run + "/state.safetensors");
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, value] : a) {
    if (name.starts_with("weights/")) {
      EXPECT_THAT(b.at(name), TensorNear(value, 1e-5)) << name;
    }
  }
}

TEST(TrainingProcesses, SayWhichVariableIsMissing) {
  const TemporaryFolder folder;
  write_inputs(folder, 20);
  EXPECT_EQ(finish(start(folder, "run", false, {{"WORLD_SIZE", "2"}, {"RANK", "0"}})), 1);
  EXPECT_THAT(read_text(folder / "run.log"), ::testing::HasSubstr("MASTER_ADDR: expected a value, because WORLD_SIZE is 2"));
}
