#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spnn/core/json_text.h>
#include <spnn/core/text.h>

#include "support/damage.h"
#include "support/temporary.h"

namespace spnn {
namespace {

using testing::refusal;
using testing::TemporaryFolder;
using ::testing::HasSubstr;

std::string repeated(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

std::string refusal_of_toml(const std::string& text) {
  return refusal([&] { parse_config(text, "config.toml"); });
}

TEST(ParseJson, IsWhatNlohmannReads) {
  for (const std::string text : {R"({"a": [1, -2, 3.5, true, null, "x"], "b": {"c": [], "d": {}}})", "[]", "7", R"("text")",
                                 R"([[1,2],[3,[4,{"e":[5]}]]])"}) {
    EXPECT_EQ(parse_json(text, "t"), Json::parse(text));
  }
}

TEST(ParseJson, BoundsDepthAndNumberAndRefusesKeysTwice) {
  EXPECT_THAT(refusal([] { parse_json(std::string(2'000'000, '['), "t"); }), HasSubstr("t: expected JSON nested at most 64 deep"));
  EXPECT_THAT(refusal([] { parse_json(repeated("{\"a\":", 100'000), "t"); }), HasSubstr("nested at most 64"));
  EXPECT_THAT(refusal([] { parse_json("[1,2,3]", "t", {.values = 3}); }), HasSubstr("at most 3 JSON values"));
  EXPECT_THAT(refusal([] { parse_json(R"({"a": 1, "a": 2})", "t"); }), HasSubstr("keys that differ, got 'a' twice"));
  EXPECT_THAT(refusal([] { parse_json(std::string("[1]\0garbage", 11), "t"); }), HasSubstr("a zero byte"));
  EXPECT_THAT(refusal([] { parse_json("{\"a\": \x1b[31m}", "t"); }), ::testing::Not(HasSubstr("\x1b")));
}

TEST(ParseConfig, BoundsTheNestingOfToml) {
  EXPECT_THAT(refusal_of_toml(repeated("a.", 200'000) + "a = 1"), HasSubstr("config.toml:1: expected tables nested at most 32 deep"));
  EXPECT_THAT(refusal_of_toml("[" + repeated("a.", 200'000) + "a]\n"), HasSubstr("nested at most 32"));
  EXPECT_THAT(refusal_of_toml(repeated("\",\".", 200'000) + "a = 1"), HasSubstr("nested at most 32"));
  EXPECT_THAT(refusal_of_toml("x = " + repeated("{a=", 100'000)), HasSubstr("nested at most 32"));
  EXPECT_THAT(refusal_of_toml("x = " + repeated("[", 100'000)), HasSubstr("nested at most 32"));
  const auto config = parse_config("# " + repeated(".", 100) + "\nt = \"" + repeated(".", 100) + "\"\nm = '''\n" + repeated("[.", 100) +
                                       "'''\nq = \"\\\"" + repeated("[", 99) + "\"\n[a.b]\nc.d = [0.5, [1.5, 2.5]]\n", "config.toml");
  EXPECT_EQ(config.at("a").at("b").at("c").at("d").at(1).at(1), 2.5);
}

TEST(ReadConfig, RefusesAHugeFile) {
  const TemporaryFolder folder;
  testing::write_file(folder / "c.json", "{}");
  std::filesystem::resize_file(folder / "c.json", 1 << 30);
  EXPECT_THAT(refusal([&] { read_config(folder / "c.json"); }), HasSubstr("expected a file of at most"));
}

TEST(Printable, LeavesNoControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mb\x7f\n\xC2\x9b" "c ü"), "a?[31mb?\n?c ü");
  EXPECT_EQ(shortened("über", 1), "…");   // not half a character
  EXPECT_EQ(in_quotes("a\nb"), "'a?b'");
  EXPECT_EQ(xml_escaped("<a href='x'>&\x1b"), "&lt;a href=&#39;x&#39;&gt;&amp;?");
}

}  // namespace
}  // namespace spnn
