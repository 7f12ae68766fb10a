#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spnn/core/config.h>
#include <spnn/core/rng.h>
#include <spnn/image/image.h>

#include "support/command.h"

namespace spnn {
namespace {

using testing::spnn_command;
using ::testing::HasSubstr;

const std::vector<std::string> residual_names = {"round_trip",      "right_inverse",    "penrose_1",
                                                 "penrose_2",       "orthogonality",    "nlbp_consistency",
                                                 "null_drift_plain", "null_drift_residual"};

void write_picture(const std::filesystem::path& file, std::uint64_t seed) {
  write_image(file, (Rng(seed).uniform({1, 40, 48}) * 255).to(torch::kUInt8));
}

TEST(VerifyCommand, MeasuresAPresetInDouble) {
  const testing::TemporaryFolder folder;
  const auto json = (folder / "report.json").string();
  const auto result = spnn_command("verify preset:fashion --double --count 2 --json " + json);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("passed"));
  const auto report = read_config(json);
  EXPECT_TRUE(report.at("passed").get<bool>());
  for (const auto& name : residual_names) EXPECT_LE(report.at("residuals").at(name).get<double>(), 1e-11) << name;
}

TEST(VerifyCommand, FailsOutOfTolerance) {
  const auto result = spnn_command("verify preset:fashion --count 1 --tolerance 1e-12");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("OUT OF TOLERANCE"));
}

TEST(VerifyCommand, TakesImages) {
  const testing::TemporaryFolder folder;
  write_picture(folder / "a.png", 1);
  write_picture(folder / "b.png", 2);
  const auto result = spnn_command("verify preset:fashion --images " + folder.path().string());
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST(VerifyCommand, RefusesWhatIsNotAModel) {
  EXPECT_EQ(spnn_command("verify").exit_code, 2);
  EXPECT_EQ(spnn_command("verify no-such-file").exit_code, 2);
  const auto result = spnn_command("verify preset:nope");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("expected one of reference-32"));
}

TEST(ProjectCommand, MeetsATarget) {
  const testing::TemporaryFolder folder;
  write_picture(folder / "in.png", 1);
  const auto json = (folder / "report.json").string();
  const auto result = spnn_command("project preset:fashion " + (folder / "in.png").string() + " --set 3=0.5 7=-0.2 -o " +
                                   (folder / "out.png").string() + " --json " + json);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto report = read_config(json);
  EXPECT_LE(report.at("consistency").get<double>(), 1e-4);
  EXPECT_NEAR(report.at("outputs").at(3).at("after").get<double>(), 0.5, 1e-4);
  EXPECT_NEAR(report.at("outputs").at(7).at("after").get<double>(), -0.2, 1e-4);
  EXPECT_EQ(read_image(folder / "out.png").sizes(), (std::vector<std::int64_t>{1, 32, 32}));
}

TEST(ProjectCommand, SaysWhatIsWrong) {
  const testing::TemporaryFolder folder;
  write_picture(folder / "in.png", 1);
  const auto start = "project preset:fashion " + (folder / "in.png").string() + " -o x.png ";
  const auto expect_usage_error = [&](const std::string& arguments, const std::string& text) {
    const auto result = spnn_command(start + arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_THAT(result.err, HasSubstr(text));
  };
  expect_usage_error("", "expected a target");
  expect_usage_error("--set Smiling", "expected NAME=NUMBER, got 'Smiling'");
  expect_usage_error("--set Nope=1", "expected the name of an output or a number below 10, got 'Nope'");
  expect_usage_error("--set 1=1 --lambda 1.5", "--lambda");
  expect_usage_error("--set 1=1 --metric best", "--metric");
}

TEST(PinvCommand, WritesTheImageOfOutputs) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder / "y.txt", "0.1, 0.2 0.3 0.4 0.5 0 0 0 0 -1\n");
  const auto json = (folder / "report.json").string();
  const auto result = spnn_command("pinv preset:fashion --values " + (folder / "y.txt").string() + " -o " +
                                   (folder / "out.png").string() + " --pseudo-inverse origin --json " + json);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LE(read_config(json).at("consistency").get<double>(), 1e-4);
  EXPECT_TRUE(std::filesystem::exists(folder / "out.png"));
}

}  // namespace
}  // namespace spnn
