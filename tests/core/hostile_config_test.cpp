#include <gtest/gtest.h>
#include <spnn/core/config.h>

#include "support/hostile.h"
#include "support/temporary.h"

namespace spnn {
namespace {

std::string many_times(const std::string& text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

void expect_harmless_config(const std::string& name, const std::string& ending, const std::string& content, const std::string& expected) {
  const testing::TemporaryFolder folder;
  const auto file = folder / ("config" + ending);
  testing::write_file(file, content);
  testing::expect_harmless(name, content.size(), expected, [&] { read_config(file); });
}

TEST(HostileConfig, CostsLittle) {
  expect_harmless_config("JSON of 1 M brackets", ".json", std::string(1'000'000, '['), "nested at most 64");
  expect_harmless_config("JSON of 500 k objects in objects", ".json", many_times("{\"a\":", 500'000), "nested at most 64");
  expect_harmless_config("JSON of 1.4 M zeros", ".json", "[0" + many_times(",0", 1'400'000) + "]", "at most 1000000 JSON values");
  expect_harmless_config("JSON of 300 k keys", ".json", [] {
    std::string text = "{\"k\": 0";
    for (int i = 0; i < 300'000; ++i) text += fmt::format(",\"{}\":0", i);
    return text + "}";
  }(), "");
  expect_harmless_config("200,000 dotted TOML keys", ".toml", many_times("a.", 200'000) + "a = 1", "nested at most 32");
  expect_harmless_config("TOML array of 1 M brackets", ".toml", "x = " + std::string(1'000'000, '['), "nested at most 32");
  expect_harmless_config("TOML of 150 k tables", ".toml", [] {
    std::string text;
    for (int i = 0; i < 150'000; ++i) text += fmt::format("[t{}]\na=1\n", i);
    return text;
  }(), "");
}

}  // namespace
}  // namespace spnn
