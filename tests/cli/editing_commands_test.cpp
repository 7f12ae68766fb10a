#include <gmock/gmock.h>
#include <spnn/core/rng.h>
#include <spnn/image/image.h>

#include "support/command.h"
#include "support/tiny_models.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::spnn_command;

class EditingCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { models = new testing::TinyModels; }
  static void TearDownTestSuite() { delete models; }

  std::string photo(const std::string& name, std::int64_t side = 32) const {
    write_image(folder / name, (Rng(name.size()).uniform({1, side, side}) * 255).to(torch::kUInt8));
    return (folder / name).string();
  }
  std::string options() const {
    return fmt::format("--steps 4 --classifier {} --prior {} -o {}", models->file("classifier"), models->file("prior"), (folder / "out").string());
  }

  inline static testing::TinyModels* models = nullptr;
  testing::TemporaryFolder folder;
};

TEST_F(EditingCommands, EditSaysWhatItAimedAtAndWritesUnderThePhotosName) {
  const auto good = spnn_command(fmt::format("edit {} --set Cat --unset Dog {}", photo("me.png"), options()));
  ASSERT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("out/me.png"));
  EXPECT_THAT(good.out, HasSubstr("1 images, "));
  EXPECT_THAT(spnn_command(fmt::format("edit --set Cat {}", options())).err, HasSubstr("Cat=1 ("));
  EXPECT_EQ(read_image(folder / "out/me.png").size(1), 32);
  EXPECT_EQ(spnn_command(fmt::format("edit {}", options())).exit_code, 2) << "neither --set nor --unset";
  const auto unknown = spnn_command(fmt::format("edit --set Kat {}", options()));
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean Cat"));
}

TEST_F(EditingCommands, APhotoOfAnySizeIsFittedAndTheMessageSaysHow) {
  for (const std::string command : {"edit", "reconstruct"}) {
    const auto wish = command == "edit" ? "--set Cat" : "";
    const auto line = fmt::format("{} {} {} {}", command, photo("large.png", 50), wish, options());
    const auto fitted = spnn_command(line);
    ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
    EXPECT_THAT(fitted.err, HasSubstr("50 × 50 of its 50 × 50 pixels, from (0, 0), made 32 × 32"));
    const auto refused = spnn_command(line + " --no-fit");
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("expected an image of 32 × 32, got 50 × 50"));
  }
}

TEST_F(EditingCommands, ReconstructAndSampleWriteWhatTheyAreAskedFor) {
  const auto made = spnn_command(fmt::format("reconstruct {} -n 2 {}", photo("a.png"), options()));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("2 images, agreement"));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/a-2.png"));
  const auto drawn = spnn_command(fmt::format("sample {} -n 3 --seed 7 --steps 3 --batch 2 -o {}", models->file("prior"), (folder / "drawn").string()));
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "drawn/000009.png"));
  const auto sheet = spnn_command(fmt::format("sample {} -n 3 --steps 3 -o {}", models->file("prior"), (folder / "sheet.png").string()));
  ASSERT_EQ(sheet.exit_code, 0) << sheet.err;
  EXPECT_GT(read_image(folder / "sheet.png").size(2), 64);
}

TEST_F(EditingCommands, CompareAndEvaluateWriteTablesAndJson) {
  for (int i = 1; i <= 30; ++i) photo(fmt::format("{}.png", std::string(static_cast<std::size_t>(i), 'a')));
  const auto common = fmt::format("--steps 2 --prior {} --judge {} --json {} -o {}", models->file("prior"), models->file("judge"),
                                  (folder / "figures.json").string(), (folder / "out").string());
  const auto compared = spnn_command(fmt::format("compare {} --images 2 --operators sr4@0 --methods nlbp,pinv {}", folder.path().string(), common));
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("pinv"));
  EXPECT_THAT(testing::file_text(folder / "figures.json"), HasSubstr("\"rows\""));
  const auto evaluated = spnn_command(fmt::format("evaluate reconstruction --images 2 --data {} --classifier {} {}", folder.path().string(),
                                                  models->file("classifier"), common));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_THAT(testing::file_text(folder / "figures.json"), HasSubstr("\"guidance\""));
}

TEST_F(EditingCommands, DevicesThatLibtorchDoesNotKnowAreUsageErrors) {
  const auto refused = spnn_command(fmt::format("edit --set Cat --device tape {}", options()));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--device: expected a device that libtorch offers"));
}

}  // namespace
}  // namespace spnn
