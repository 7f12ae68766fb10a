#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spnn/core/printable.h>
#include <spnn/core/svg.h>
#include <spnn/core/text.h>

namespace spnn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PrintableText, IsTheSameInOnePieceAndInAny) {
  const std::string text = "a\x1b[31m\tb\n\xc2\x9b" "2J \xc3\xa9 \xc2\xa9 \xc2";
  EXPECT_EQ(printable(text), "a?[31m\tb\n?2J \xc3\xa9 \xc2\xa9 \xc2");
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    PrintableText filter;
    auto out = filter.take(std::string_view(text).substr(0, cut));
    out += filter.take(std::string_view(text).substr(cut));
    EXPECT_EQ(out + filter.rest(), printable(text)) << cut;
  }
}

// Raw messages of libraries, and memory that is not there, name the file and are cut.
TEST(NamingTheFile, SaysWhichFileALibraryComplainedAbout) {
  const auto said = [](const auto& thrown) -> std::string {
    try {
      naming_the_file("photo.png", [&]() -> int { throw thrown; });
    } catch (const Error& error) {
      return error.what();
    }
    return "another exception";
  };
  EXPECT_EQ(said(std::bad_alloc()), "photo.png: expected memory enough to read it, got none left");
  EXPECT_EQ(said(std::runtime_error("bad\x1b[2J block")), "photo.png: expected a file that can be read, got bad?[2J block");
  EXPECT_EQ(said(Error("where: expected this, got that")), "where: expected this, got that");
  const auto cut = said(std::runtime_error(std::string(100'000, 'x')));
  EXPECT_LT(cut.size(), longest_quote + 60);
  EXPECT_TRUE(cut.ends_with("…")) << cut;
}

TEST(Svg, TextOfFilesIsText) {
  const auto drawn = Svg(10, 10, "<script>1</script>").text(1, 1, "</text><script>alert(\"1\")</script>&'\x1b").str();
  EXPECT_THAT(drawn, Not(HasSubstr("<script>")));
  EXPECT_THAT(drawn, Not(HasSubstr("\x1b")));
  EXPECT_THAT(drawn, HasSubstr("&lt;/text&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;?"));
}

}  // namespace
}  // namespace spnn
