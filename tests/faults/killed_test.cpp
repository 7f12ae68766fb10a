// kill -9 at random moments of sampling to a folder and of writing a report: whole files or none.

#include <gmock/gmock.h>
#include <spnn/core/io.h>
#include <spnn/evaluation/report.h>

#include <ATen/Parallel.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "support/app_jobs.h"
#include "support/damage.h"

namespace spnn {
namespace {

using Killed = testing::AppJobs;

// Runs the work in a child process again and again and kills it after up to `longest` microseconds.
void kill_at_random(int kills, unsigned longest, const std::function<void()>& work, const std::function<void()>& look) {
  std::mt19937 random(9);
  for (int k = 0; k < kills; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      at::set_num_threads(1);
      for (;;) work();
    }
    usleep(static_cast<useconds_t>(random() % longest));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it ended before it was killed";
    look();
  }
}

bool is_of_a_writer(const std::filesystem::path& file) { return file.filename().string().starts_with(".spnn-"); }

TEST_F(Killed, SamplingToAFolderLeavesWholePictures) {
  at::set_num_threads(1);
  const auto session = open();
  const auto output = folder / "samples";
  std::uint64_t seed = 0;
  std::size_t seen = 0;
  constexpr int kills = 250;
  kill_at_random(kills, 80'000,
                 [&] {
                   Observer quiet;
                   session->sample({.count = 50, .seed = seed, .sampling = {.steps = 1, .batch = 2}, .output = output.string()}, quiet);
                 },
                 [&] {
                   seed += 1000;
                   if (!std::filesystem::exists(output)) return;
                   for (const auto& entry : std::filesystem::directory_iterator(output)) {
                     if (is_of_a_writer(entry.path())) continue;
                     ASSERT_EQ(testing::refusal([&] { read_image(entry.path()); }), "");
                     ++seen;
                     std::filesystem::remove(entry.path());
                   }
                 });
  std::printf("[ kill -9  ] %d kills of sampling: %zu pictures, all whole\n", kills, seen);
  EXPECT_GT(seen, 0U);   // how many depends on the machine
}

TEST_F(Killed, AReportIsTheOldOneOrTheNewOne) {
  const auto output = folder / "report";
  const auto section = [](char letter) {
    return ReportSection{.name = "one", .title = "one", .command = "spnn", .text = {std::string(200'000, letter)}, .tables = {{.title = "t", .columns = {"a"}, .rows = {{std::string(1, letter)}}}}};
  };
  const auto page = add_to_report(output, section('0'));
  constexpr int kills = 240;
  kill_at_random(kills, 15'000,
                 [&] {
                   for (char letter = 'a'; letter <= 'z'; ++letter) add_to_report(output, section(letter));
                 },
                 [&] {
                   const auto text = testing::file_text(page);
                   ASSERT_TRUE(text.ends_with("</html>\n") || text.ends_with("</html>")) << text.size();
                   // The next writer reads the sections that are there: they are whole too.
                   ASSERT_EQ(testing::refusal([&] { add_to_report(output, section('0')); }), "");
                 });
  std::printf("[ kill -9  ] %d kills of writing a report: the page is whole\n", kills);
}

// What a killed writer left goes with the next one.
TEST_F(Killed, WhatIsLeftIsRemovedByTheNextWriter) {
  const auto left = folder / ".spnn-0123456789abcdef.part";
  testing::write_file(left, "half");
  std::filesystem::last_write_time(left, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  add_to_report(folder.path(), {.name = "one", .title = "one"});
  EXPECT_FALSE(std::filesystem::exists(left));
}

// An interrupted sheet keeps what was finished.
TEST_F(Killed, AnInterruptedSheetHoldsTheFinishedImages) {
  class Stops final : public Observer {
   public:
    bool cancelled() const override { return ++asked_ > 9; }

   private:
    mutable int asked_ = 0;
  } stops;
  const auto sheet = folder / "sheet.png";
  const auto text = testing::refusal([&] { open()->sample({.count = 40, .sampling = {.steps = 4, .batch = 4}, .output = sheet.string()}, stops); });
  EXPECT_THAT(text, ::testing::HasSubstr("images that were finished are in"));
  EXPECT_GE(read_image(sheet).numel(), 4 * 32 * 32);
}

}  // namespace
}  // namespace spnn
