#include <gtest/gtest.h>
#include <spnn/core/errors.h>
#include <spnn/data/dataset.h>
#include <spnn/data/summary.h>

#include <fstream>

#include "data/sample_sets.h"
#include "support/damage.h"

namespace spnn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

// One thing wrong with a set of four images, and what the error must say.
struct Damage {
  const char* name;
  std::function<void(const TemporaryFolder&)> damage;
  std::string message;
  std::int64_t left = 3;  // images that --skip-bad keeps
};

void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.name;
}

void csv(const TemporaryFolder& folder, const std::string& second_row) {
  testing::write_file(folder / "labels.csv", "file,Happy\n0.png,0\n" + second_row + "\n2.png,-1\n3.png,1\n");
}

class BadData : public ::testing::TestWithParam<Damage> {};

TEST_P(BadData, IsAnErrorNamingFileAndLine) {
  const TemporaryFolder folder;
  testing::write_csv_folder(folder.path());
  GetParam().damage(folder);
  EXPECT_THAT(testing::refusal([&] { load_dataset(folder.path(), {.split = Split::all}); }),
              HasSubstr(GetParam().message));
  EXPECT_THAT(testing::refusal([&] { summarize(folder.path(), /*skip_bad=*/false); }),
              HasSubstr(GetParam().message));
}

TEST_P(BadData, IsLeftOutAndReportedWithSkipBad) {
  const TemporaryFolder folder;
  testing::write_csv_folder(folder.path());
  GetParam().damage(folder);
  const Dataset rest = load_dataset(folder.path(), {.split = Split::all, .skip_bad = true});
  EXPECT_EQ(rest.size(), GetParam().left);
  EXPECT_EQ(rest.labels.size(0), rest.size());
  EXPECT_EQ(std::int64_t(rest.files.size()), rest.size());
  EXPECT_THAT(rest.skipped, ElementsAre(HasSubstr(GetParam().message)));
  EXPECT_EQ(summarize(folder.path(), /*skip_bad=*/true).skipped, rest.skipped);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, BadData,
    ::testing::Values(
        Damage{"missing image", [](const auto& f) { std::filesystem::remove(f / "1.png"); },
               "labels.csv:3: expected the image 1.png in"},
        Damage{"too many columns", [](const auto& f) { csv(f, "1.png,1,1"); },
               "labels.csv:3: expected 2 columns (file and 1), got 3"},
        Damage{"too few columns", [](const auto& f) { csv(f, "1.png"); },
               "labels.csv:3: expected 2 columns (file and 1), got 1"},
        Damage{"another label", [](const auto& f) { csv(f, "1.png,2"); },
               "labels.csv:3: expected 1, 0 or -1 for Happy, got '2'"},
        Damage{"a word as label", [](const auto& f) { csv(f, "1.png,yes"); },
               "labels.csv:3: expected 1, 0 or -1 for Happy, got 'yes'"},
        Damage{"listed twice", [](const auto& f) { csv(f, "1.png,1\n1.png,0"); },
               "labels.csv:4: expected each image once, got 1.png again (first at labels.csv:3)", 4},
        Damage{"not an image", [](const auto& f) { testing::write_file(f / "1.png", "text"); },
               "labels.csv:3: 1.png: expected a PNG, JPEG or WebP image, got other content"},
        Damage{"the first image is bad", [](const auto& f) { testing::write_file(f / "0.png", ""); },
               "labels.csv:2: 0.png: expected a PNG, JPEG or WebP image, got an empty file"},
        Damage{"truncated image",
               [](const auto& f) {
                 std::filesystem::resize_file(f / "1.png", std::filesystem::file_size(f / "1.png") / 2);
               },
               "labels.csv:3: 1.png: expected a readable PNG"}));

TEST(BadCelebA, TheCountInLineOneMustHold) {
  const TemporaryFolder folder;
  testing::write_celeba_hq(folder.path(), false);
  std::ofstream(folder / "CelebAMask-HQ-attribute-anno.txt", std::ios::app) << "3.jpg 1\n";
  EXPECT_THAT(testing::refusal([&] { load_dataset(folder.path()); }),
              HasSubstr("CelebAMask-HQ-attribute-anno.txt:1: expected the number of rows, 11, got 10"));
  const Dataset rest = load_dataset(folder.path(), {.split = Split::all, .skip_bad = true});
  EXPECT_EQ(rest.size(), 10);
  EXPECT_THAT(rest.skipped, ElementsAre(HasSubstr(":1: "),
                                        HasSubstr("anno.txt:13: expected 3 columns (file and 2), got 2")));
}

TEST(BadCelebA, AnImageWithoutSplitIsAnError) {
  const TemporaryFolder folder;
  testing::write_celeba_hq(folder.path(), true);
  testing::write_file(folder / "list_eval_partition.txt", "000001.jpg 2\n000002.jpg 5\n");
  EXPECT_THAT(testing::refusal([&] { load_dataset(folder.path()); }),
              HasSubstr("list_eval_partition.txt:2: expected a file and 0, 1 or 2"));
  testing::write_file(folder / "list_eval_partition.txt", "000001.jpg 2\n");
  EXPECT_THAT(testing::refusal([&] { load_dataset(folder.path()); }),
              AllOf(HasSubstr("anno.txt:3: "), HasSubstr("got no line for it")));
}

TEST(BadTar, EveryTruncationWithinAFileIsRefused) {
  const TemporaryFolder folder;
  testing::write_celeba_hq(folder / "set", true);
  const std::string tar = testing::tar_of(folder / "set", "");
  for (const std::size_t length : {std::size_t{700}, tar.size() / 3, tar.size() / 2}) {
    testing::write_file(folder / "cut.tar", tar.substr(0, length));
    EXPECT_NE(testing::refusal([&] { load_dataset(folder / "cut.tar"); }), "") << length;
  }
}

TEST(BadTar, OtherFilesAreRefusedWithAHint) {
  const TemporaryFolder folder;
  testing::write_file(folder / "x.tar", std::string(2000, 'x'));
  EXPECT_THAT(testing::refusal([&] { load_dataset(folder / "x.tar"); }),
              HasSubstr("at byte 0: expected a tar header"));
  testing::write_file(folder / "x.tar.gz", "\x1f\x8b\x08 compressed");
  EXPECT_THAT(testing::refusal([&] { load_dataset(folder / "x.tar.gz"); }), HasSubstr("unpack it once"));
}

}  // namespace
}  // namespace spnn
