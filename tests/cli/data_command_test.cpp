#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spnn/core/config.h>

#include "data/sample_sets.h"
#include "support/command.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::spnn_command;
using testing::TemporaryFolder;

TEST(DataCommand, InfoPrintsCountsRatesAndTheRuleOfTheSplits) {
  const TemporaryFolder folder;
  testing::write_celeba_hq(folder / "set", /*with_partition=*/true);
  const auto json = folder / "info.json";
  const auto result =
      spnn_command(fmt::format("data info '{}' --json '{}'", (folder / "set").string(), json.string()));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("CelebAMask-HQ: 10 images, 8 × 8 pixels (height × width), 2 attributes"));
  EXPECT_THAT(result.out, HasSubstr("splits: CelebA's partition"));
  EXPECT_THAT(result.out, HasSubstr("train       6 images"));
  const Json info = read_config(json);
  EXPECT_EQ(info["splits"]["val"]["images"], 2);
  EXPECT_DOUBLE_EQ(info["splits"]["train"]["rates"]["Odd"], 0.5);
}

TEST(DataCommand, ABadFileEndsWithOneLineUnlessSkipped) {
  const TemporaryFolder folder;
  testing::write_csv_folder(folder.path());
  testing::write_file(folder / "2.png", "damaged");
  const std::string path = fmt::format("data info '{}'", folder.path().string());
  const auto strict = spnn_command(path);
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_THAT(strict.err, HasSubstr("labels.csv:4: 2.png: expected a PNG, JPEG or WebP image"));
  EXPECT_EQ(std::count(strict.err.begin(), strict.err.end(), '\n'), 1);
  const auto lenient = spnn_command(path + " --skip-bad");
  EXPECT_EQ(lenient.exit_code, 0) << lenient.err;
  EXPECT_THAT(lenient.out, HasSubstr("folder: 3 images"));
  EXPECT_THAT(lenient.out, HasSubstr("skipped 1 bad entries:\n  labels.csv:4: 2.png"));
}

TEST(DataCommand, SheetWritesAPictureOfTheSplit) {
  const TemporaryFolder folder;
  testing::write_csv_folder(folder.path());
  const auto sheet = folder / "sheet.png";
  const auto result =
      spnn_command(fmt::format("data sheet '{}' -o '{}' --split all --columns 2 --attributes Happy",
                               folder.path().string(), sheet.string()));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Tensor image = read_image(sheet);
  EXPECT_THAT(result.out, HasSubstr(fmt::format("4 images, {} × {} pixels", image.size(1), image.size(2))));
}

TEST(DataCommand, BadOptionsAreUsageErrors) {
  const TemporaryFolder folder;
  testing::write_csv_folder(folder.path());
  const auto path = folder.path().string();
  for (const auto& arguments :
       {fmt::format("data sheet '{}' -o x.bmp", path), fmt::format("data sheet '{}'", path),
        fmt::format("data sheet '{}' -o x.png --split dev", path),
        fmt::format("data sheet '{}' -o x.png --count 0", path), std::string("data info"),
        std::string("data")}) {
    const auto result = spnn_command(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_THAT(result.err, HasSubstr("spnn: ")) << arguments;
  }
}

TEST(DataCommand, AnUnknownAttributeIsNamed) {
  const TemporaryFolder folder;
  testing::write_csv_folder(folder.path());
  const auto result = spnn_command(fmt::format("data sheet '{}' -o '{}' --attributes Sad",
                                               folder.path().string(), (folder / "x.png").string()));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("--attributes: expected an attribute of the set, got 'Sad'"));
  EXPECT_FALSE(std::filesystem::exists(folder / "x.png"));
}

}  // namespace
}  // namespace spnn
