#include <gmock/gmock.h>
#include <spnn/core/rng.h>
#include <spnn/image/image.h>

#include "support/command.h"
#include "support/tiny_models.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::spnn_command;

TEST(OperatorsCommand, ListsOperatorsMethodsAndUnits) {
  const auto result = spnn_command("operators");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const auto* text : {"bicubic", "pseudo-inverse:", "ddnm+", "units of pixels in [0, 1]"}) EXPECT_THAT(result.out, HasSubstr(text));
}

TEST(RestoreCommand, RestoresAFileThatIsAlreadyDegradedInOneLine) {
  const testing::TinyModels models;
  const testing::TemporaryFolder folder;
  const auto small = folder / "small.png";
  write_image(small, (Rng(1).uniform({1, 8, 8}) * 255).to(torch::kUInt8));
  const auto common = small.string() + " --degraded --steps 3 --prior " + models.file("prior") + " -o " + (folder / "out").string();
  const auto good = spnn_command("restore --operator sr4 " + common);
  ASSERT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("1 images by nlbp: rms g(x)-y"));
  EXPECT_EQ(read_image(folder / "out/small.png").size(1), 32);

  const auto expect_usage_error = [&](const std::string& options, const std::string& text) {
    const auto result = spnn_command("restore " + options + " " + common);
    EXPECT_EQ(result.exit_code, 2) << options << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
  };
  expect_usage_error("", "--operator");
  expect_usage_error("--operator sr2", "expected 16 × 16 pixels, as 'sr2' leaves of 32 × 32, got 8 × 8 (sr4 or bicubic4 would fit)");
  expect_usage_error("--operator sr4 --noise -0.1", "noise: expected a standard deviation from 0 to 1");
  expect_usage_error("--operator gamma+sr4 --method mcg", "method mcg: expected a linear operator");
  expect_usage_error("--operator blurr", "did you mean");
}

}  // namespace
}  // namespace spnn
