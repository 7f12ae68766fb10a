#include <gmock/gmock.h>
#include <spnn/core/config.h>

#include <fmt/format.h>

#include <sys/wait.h>

#include "support/temporary.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSource = SPNN_SOURCE_DIR;

int tables(const std::string& arguments) {
  const int status = std::system(fmt::format("/usr/bin/python3 '{}/scripts/experiment-tables' {} >/dev/null 2>&1", kSource, arguments).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// What `spnn evaluate reconstruction --json` writes, with this share of outputs right.
std::string some_figures(double agreement) {
  Json json{{"images", 7}, {"agreement", agreement}};
  for (const auto* name : {"transfer_score", "consistency_before_saving", "consistency_after_saving", "mean_abs_dp", "judge_agreement", "frechet",
                           "judge_agreement_prior", "nlbp_share_of_step", "nlbp_share_of_sampling", "frechet_prior", "judge_agreement_real", "frechet_real"})
    json[name] = 0.5;
  return json.dump();
}

TEST(ExperimentTables, AreWrittenBetweenTheirMarksAndNowhereElse) {
  const testing::TemporaryFolder folder;
  const auto page = folder / "page";
  const auto words = fmt::format("'{}' '{}'", folder.path().string(), page.string());
  testing::write_file(page, "before\n<!-- table fashion -->\ntyped\n<!-- end -->\nbetween\n<!-- table prior -->\nstays\n<!-- end -->\nafter\n");
  testing::write_file(folder / "fashion.json", some_figures(0.125));
  testing::write_file(folder / "fashion.command", "spnn evaluate this\n");
  EXPECT_EQ(tables(words + " --check"), 1);
  ASSERT_EQ(tables(words), 0);
  const auto text = testing::file_text(page);
  EXPECT_THAT(text, HasSubstr("before\n<!-- table fashion -->\n`spnn evaluate this`. Transfer score **0.500**"));
  EXPECT_THAT(text, HasSubstr("| restored | 12.5 % | 0.5000 |"));
  EXPECT_THAT(text, HasSubstr("<!-- end -->\nbetween\n<!-- table prior -->\nstays\n<!-- end -->\nafter\n"));
  EXPECT_THAT(text, Not(HasSubstr("typed")));
  EXPECT_EQ(tables(words + " --check"), 0);
  testing::write_file(folder / "fashion.json", some_figures(0.25));
  EXPECT_EQ(tables(words + " --check"), 1);
  testing::write_file(folder / "editing.json", "{}");   // the page has no place for it
  EXPECT_EQ(tables(words), 1);
}

// Figures that are in the repository are what the page says, and every experiment has its place.
TEST(ExperimentTables, OfThePageAreThoseOfTheFigures) {
  const auto file = std::filesystem::path(kSource) / "docs/experiments.md";
  EXPECT_EQ(tables(fmt::format("'{}/docs/figures' '{}' --check", kSource, file.string())), 0);
  const auto page = testing::file_text(file);
  for (const std::string name : {"reconstruction", "reconstruction-residual", "editing", "ablation", "prior", "fashion"})
    EXPECT_THAT(page, HasSubstr("<!-- table " + name + " -->\n")) << name;
}

}  // namespace
}  // namespace spnn
