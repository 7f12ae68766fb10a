#include <gmock/gmock.h>
#include <spnn/core/config.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

namespace spnn {
namespace {

const std::filesystem::path kRoot = SPNN_SOURCE_DIR;

std::vector<std::filesystem::path> documents() {
  std::vector<std::filesystem::path> all = {kRoot / "README.md", kRoot / "HACKING.md", kRoot / "SECURITY.md"};
  for (const auto* folder : {"docs", "models"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kRoot / folder)) {
      if (entry.path().extension() == ".md") all.push_back(entry.path());
    }
  }
  return all;
}

struct Line {
  std::string where, text;
  std::ptrdiff_t width = 0;   // in characters
};

// Lines outside of code and tables.
std::vector<Line> prose(const std::filesystem::path& document) {
  std::vector<Line> lines;
  std::istringstream in(read_text(document));
  bool code = false;
  int number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (text.starts_with("```")) code = !code;
    if (code || text.starts_with("    ") || text.find_first_not_of(' ') == text.npos || text[text.find_first_not_of(' ')] == '|') continue;
    const auto width = std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    lines.push_back({document.filename().string() + ":" + std::to_string(number), text, width});
  }
  return lines;
}

TEST(Documents, HaveLinesThatFitAScreen) {
  for (const auto& document : documents()) {
    for (const auto& line : prose(document)) EXPECT_LE(line.width, 120) << line.where;
  }
}

TEST(Documents, NameFilesThatAreThere) {
  const std::regex link(R"(\]\(([^)#: ]+)\))");
  for (const auto& document : documents()) {
    for (const auto& line : prose(document)) {
      for (std::sregex_iterator it(line.text.begin(), line.text.end(), link), end; it != end; ++it) {
        EXPECT_TRUE(std::filesystem::exists(document.parent_path() / it->str(1))) << line.where << ": " << it->str(1);
      }
    }
  }
}

// A document says what is true now, and nothing of the machine it was written on.
TEST(Documents, TellNoHistoryAndNoMachinePaths) {
  const std::regex history(R"(\bissue #?[0-9]|\b(this|last|first|an earlier|the previous) session\b|\bearlier (prior|judge|classifier|network)\b|before the changes|models before these|an hour (ago|before)|\(/(work|srv|root)/)",
                           std::regex::icase);
  for (const auto& document : documents()) {
    for (const auto& line : prose(document)) EXPECT_FALSE(std::regex_search(line.text, history)) << line.where << ": " << line.text;
  }
}

// Comments cite documents that a reader can open.
TEST(Documents, CitedInTheCodeAreInTheRepository) {
  const std::regex cited(R"(([a-z_/]+\.md)\b)");
  for (const auto* folder : {"src", "apps", "tests", "bench", "fuzz", "examples", "python"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / folder)) {
      const auto extension = entry.path().extension();
      if (entry.path().string().find("node_modules") != std::string::npos || (extension != ".h" && extension != ".cpp" && extension != ".py")) continue;
      const auto text = read_text(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), cited), end; it != end; ++it) {
        const auto name = it->str(1);
        const bool known = std::filesystem::exists(kRoot / name) || std::filesystem::exists(kRoot / "docs" / name);
        EXPECT_TRUE(known) << entry.path().string() << ": " << name;
      }
    }
  }
}

}  // namespace
}  // namespace spnn
