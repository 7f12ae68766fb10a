#include <gmock/gmock.h>
#include <spnn/core/config.h>
#include <spnn/degradations/black_box.h>
#include <spnn/image/image.h>

#include "support/app_jobs.h"
#include "support/command.h"

namespace spnn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::spnn_command;

// A folder of 20 grey images and a configuration of a few steps.
class DegradationCommand : public testing::AppJobs {
 protected:
  DegradationCommand() {
    for (int i = 1; i <= 20; ++i) image(fmt::format("in/{}.png", std::string(static_cast<std::size_t>(i), 'a')));
    const std::string training = "steps = 6\nbatch = 8\nwarmup = 1\nvalidate_every = 3\ncheckpoint_every = 3\n";
    testing::write_file(folder / "tiny.toml", "image_size = 32\nchannels = 1\nkeep = \"dct:luma=20\"\n[network]\nhidden = 8\nkernel = 1\nr_hidden = 8\n"
                                              "[train]\n" + training + "[inverse.train]\n" + training);
  }

  std::string path(const std::string& name) const { return (folder / name).string(); }

  // With the tiny configuration.
  testing::CommandResult train(const std::string& options) const {
    return spnn_command(fmt::format("train degradation {} {}", path("tiny.toml"), options));
  }
  std::string jpeg(const std::string& run) const { return fmt::format("--operator jpeg:20 --data {} --run {}", path("in"), path(run)); }
};

TEST_F(DegradationCommand, TrainsReportsAndGivesAnOperatorToRestoreWith) {
  const auto trained = train(jpeg("run") + " --baseline");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const auto report = read_config(folder / "run/report.json");
  EXPECT_THAT(trained.out, HasSubstr(fmt::format("jpeg:20, dct:luma=20: 320 of 1024 numbers, T†T D(x) is {:.2f} dB from D(x); on {} held-out pictures:",
                                                 report.at("seen_psnr").get<double>(), report.at("held_out").get<int>())));
  ASSERT_EQ(report.at("rows").size(), 3U) << "T, g and the plain CNN";
  for (const auto& row : report.at("rows")) {
    EXPECT_THAT(trained.out, HasSubstr(fmt::format("  {:17} rms |g(x) - T D(x)| {:.5f}", row.at("name").get<std::string>(), row.at("rms").get<double>())));
  }
  EXPECT_THAT(trained.out, AllOf(HasSubstr(" weights, 6 steps, "), HasSubstr("g†(g(x)) is "), HasSubstr("\n" + path("run/degradation.safetensors") + "\n")));

  const auto restored = spnn_command(fmt::format("restore {} --operator model:{} --steps 3 --prior {} -o {}", image("clean.png"),
                                                 path("run/degradation.safetensors"), models->file("prior"), path("out")));
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_THAT(restored.out, AllOf(HasSubstr("1 images by nlbp: PSNR "), HasSubstr("against what the black box itself makes of the result")));
  EXPECT_EQ(read_image(folder / "out/clean.png").sizes(), read_image(folder / "clean.png").sizes());
  const auto D = make_black_box("jpeg:20", {1, 32, 32});
  const auto degraded = to_bytes(D(to_unit(read_image(folder / "clean.png")).unsqueeze(0)))[0];
  EXPECT_TRUE(torch::equal(read_image(folder / "out/measured/clean.png"), degraded)) << "the black box made the measurement, not g";
}

TEST_F(DegradationCommand, ResumesAndRefusesToStartOverAFinishedRun) {
  ASSERT_EQ(train(jpeg("run")).exit_code, 0);
  const auto model = testing::file_bytes(folder / "run/degradation.safetensors");
  const auto again = train(jpeg("run"));
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("add --resume"));
  const auto resumed = train(jpeg("run") + " --resume");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr(" weights, 6 steps, "));
  EXPECT_EQ(testing::file_bytes(folder / "run/degradation.safetensors"), model) << "there was nothing left to train";
  const auto other = train(fmt::format("--operator quantize:4 --data {} --run {} --resume", path("in"), path("run")));
  EXPECT_EQ(other.exit_code, 1) << "a run of one degradation goes on as one of another";
  EXPECT_THAT(other.err, HasSubstr("operator"));
}

TEST_F(DegradationCommand, LearnsFromPairsOfFolders) {
  const auto D = make_black_box("quantize:3", {1, 32, 32});
  std::filesystem::create_directories(folder / "after");
  for (const auto& entry : std::filesystem::directory_iterator(folder / "in")) {
    write_image(folder / "after" / entry.path().filename().string(), to_bytes(D(to_unit(read_image(entry.path())).unsqueeze(0)))[0]);
  }
  const auto trained = train(fmt::format("--pairs {} {} --run {} --steps 4", path("in"), path("after"), path("run")));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.out, AllOf(HasSubstr("pairs, dct:luma=20: 320 of 1024 numbers"), HasSubstr("on 2 held-out pictures"), HasSubstr(" weights, 4 steps, ")));
  std::filesystem::remove(folder / "after/aaa.png");
  const auto missing = train(fmt::format("--pairs {} {} --run {}", path("in"), path("after"), path("other")));
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("expected a degraded 'aaa' for every clean image, got none"));
}

TEST_F(DegradationCommand, ExplainsWrongOptions) {
  const auto data = " --data " + path("in"), run = " --run " + path("run"), box = std::string("--operator jpeg:20");
  const auto expect_usage_error = [&](const std::string& options, const std::string& text) {
    const auto result = train(options);
    EXPECT_EQ(result.exit_code, 2) << options << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr(text)) << options;
    EXPECT_EQ(result.out, "") << options;
  };
  expect_usage_error(box + data, "--run is required");
  expect_usage_error(run, "train degradation: expected --operator or --pairs, got neither");
  expect_usage_error(box + run, "train degradation --operator: expected --data with pictures to degrade, got none");
  expect_usage_error("--data " + path("in") + run, "--data requires --operator");
  expect_usage_error(box + data + run + " --pairs " + path("in") + " " + path("in"), "--operator excludes --pairs");
  expect_usage_error("--pairs " + path("in") + run, "--pairs: At least 2 required but received 1");
  expect_usage_error("--pairs " + path("in") + " " + path("absent") + run, "Directory does not exist: " + path("absent"));
  expect_usage_error("--operator jpeg:200" + data + run, "expected quality from 1 to 100, got 200");
  expect_usage_error("--operator jpg:20" + data + run, "did you mean");
  expect_usage_error(box + data + run + " --keep dct:luma=64", "fewer than all 64, got 64");
  expect_usage_error(box + data + run + " --steps 0", "--steps");
  EXPECT_FALSE(std::filesystem::exists(folder / "run")) << "a refused command leaves no run behind";
}

}  // namespace
}  // namespace spnn
