#include <gmock/gmock.h>
#include <spnn/core/rng.h>
#include <spnn/evaluation/report.h>

#include <cmath>

#include "support/temporary.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ReportSection some_section(std::string name, int order) {
  return {.name = std::move(name), .title = "A <title> & more", .command = "spnn ablate --images 4", .order = order,
          .text = {"What it shows."},
          .tables = {{.title = "Numbers", .columns = {"a", "b"}, .rows = {{"x, y", "1"}, {"say \"no\"", "2"}}}},
          .charts = {{.title = "Bars", .labels = {"one", "two"}, .series = {{"g", {0.5, NAN}}}, .percent = true}},
          .pictures = {picture("noise", (Rng(1).uniform({3, 8, 8}) * 255).to(torch::kUInt8))}};
}

TEST(Report, Base64IsTheStandardOne) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Report, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(render_csv(some_section("s", 0).tables[0]), "a,b\n\"x, y\",1\n\"say \"\"no\"\"\",2\n");
}

TEST(Report, ThePageIsSelfContainedAndNamesTheCommand) {
  const auto html = render_html({some_section("s", 0)});
  EXPECT_THAT(html, HasSubstr("<code>spnn ablate --images 4</code>"));
  EXPECT_THAT(html, HasSubstr("A &lt;title&gt; &amp; more"));
  EXPECT_THAT(html, HasSubstr("data:image/png;base64,"));
  EXPECT_THAT(html, HasSubstr("name=viewport"));
  EXPECT_THAT(html, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, HasSubstr("aria-sort"));
}

TEST(Report, PicturesComeFirstAndTablesAreFolded) {
  const auto html = render_html({some_section("s", 0)});
  const auto picture = html.find("<img"), words = html.find("What it shows."), folded = html.find("<details>"), table = html.find("<table>");
  EXPECT_LT(picture, words);
  EXPECT_LT(words, folded);
  EXPECT_LT(folded, table);
  EXPECT_EQ(html.find("<code>spnn"), html.rfind("<code>spnn")) << "one command line for the section";
}

TEST(Report, SectionsGatherInOneReportInTheirOrder) {
  const testing::TemporaryFolder folder;
  add_to_report(folder.path(), some_section("second", 2));
  add_to_report(folder.path(), some_section("first", 1));
  auto again = some_section("second", 2);
  again.title = "Changed";
  const auto page = read_text(add_to_report(folder.path(), again));
  EXPECT_LT(page.find("id=\"first\""), page.find("id=\"second\""));
  EXPECT_EQ(page.find("id=\"second\""), page.rfind("id=\"second\""));
  EXPECT_THAT(page, HasSubstr("Changed"));
  EXPECT_TRUE(std::filesystem::exists(folder / "second.csv"));
}

}  // namespace
}  // namespace spnn
