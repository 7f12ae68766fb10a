#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "support/command.h"
#include "support/sockets.h"
#include "support/tiny_models.h"

namespace spnn {
namespace {

using namespace std::chrono_literals;

// The command in a process of its own; what it says of its progress is in a file.
class Running {
 public:
  Running(const std::vector<std::string>& arguments, const std::filesystem::path& says) : says_(says), child_(fork()) {
    if (child_ != 0) return;
    const int file = open(says.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDERR_FILENO);
    dup2(file, STDOUT_FILENO);
    const std::string command = SPNN_BINARY_DIR "/spnn";
    std::vector<char*> words = {const_cast<char*>(command.c_str())};
    for (const auto& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(command.c_str(), words.data());
    _exit(127);
  }
  ~Running() { kill(child_, SIGKILL); }

  bool said(const std::string& text) const {
    for (int i = 0; i < 600; ++i, std::this_thread::sleep_for(100ms)) {
      if (testing::file_text(says_).find(text) != std::string::npos) return true;
    }
    return false;
  }
  pid_t process() const { return child_; }
  void signal(int which) const { kill(child_, which); }
  // The exit code, −1 if it still runs after a minute, and for a signal that ended it 1000 more than that.
  int end() const {
    int status = 0;
    for (int i = 0; i < 600; ++i, std::this_thread::sleep_for(100ms)) {
      if (waitpid(child_, &status, WNOHANG) == child_) return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return -1;
  }

 private:
  std::filesystem::path says_;
  pid_t child_;
};

// `verify` never asks whether it is cancelled: a caught signal would be swallowed, and the work done to its end.
TEST(Signals, EndWorkThatDoesNotAsk) {
  for (const int which : {SIGTERM, SIGINT}) {
    const testing::TemporaryFolder folder;
    const Running verify({"--threads", "1", "verify", "preset:fashion", "--double", "--count", "1500"}, folder / "says");
    ASSERT_TRUE(verify.said("verifying"));
    verify.signal(which);
    EXPECT_EQ(verify.end(), 1000 + which);
  }
}

TEST(Signals, LetWorkThatAsksFinishItsStepAndSayWhatIsThere) {
  const testing::TinyModels models;
  const testing::TemporaryFolder folder;
  const Running sample({"--threads", "1", "sample", models.file("prior"), "-n", "500", "--steps", "500", "--batch", "1", "-o", (folder / "out").string()}, folder / "says");
  for (int i = 0; i < 600 && !std::filesystem::exists(folder / "out/000000.png"); ++i) std::this_thread::sleep_for(100ms);
  sample.signal(SIGTERM);
  EXPECT_EQ(sample.end(), 130);
}

TEST(Studio, ListensOnTheLoopbackOnlyAndEndsBySignal) {
  const testing::TinyModels models;
  const testing::TemporaryFolder folder;
  const Running studio({"--threads", "1", "studio", "--port", "0", "--classifier", models.file("classifier"), "--prior", models.file("prior"), "--judge",
                        models.file("judge")}, folder / "says");
  ASSERT_TRUE(studio.said("studio: http://localhost:")) << testing::file_text(folder / "says");
  const auto sockets = testing::reached(studio.process());
  EXPECT_EQ(sockets.loopback.size(), 1U);
  EXPECT_TRUE(sockets.beyond.empty()) << *sockets.beyond.begin();
  studio.signal(SIGTERM);
  EXPECT_EQ(studio.end(), 0);
}

}  // namespace
}  // namespace spnn
