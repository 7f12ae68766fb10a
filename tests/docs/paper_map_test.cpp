#include <gtest/gtest.h>
#include <spnn/core/config.h>

#include <filesystem>
#include <regex>
#include <sstream>

namespace spnn {
namespace {

namespace fs = std::filesystem;

struct Row {
  std::string what, file;
  std::vector<std::string> symbols, tests;
};

std::vector<std::string> in_backticks(const std::string& cell) {
  static const std::regex word("`([^`]+)`");
  std::vector<std::string> words;
  for (std::sregex_iterator it(cell.begin(), cell.end(), word), end; it != end; ++it) words.push_back((*it)[1]);
  return words;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// Cells of a Markdown table; \| is a bar inside one.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells{""};
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return cells;
}

// Rows of every table whose file column names a source.
std::vector<Row> rows_of(const fs::path& page) {
  std::vector<Row> rows;
  std::istringstream lines(read_text(page));
  for (std::string line; std::getline(lines, line);) {
    const auto cells = cells_of(line);
    if (cells.size() != 7 || trimmed(cells[3]).find('/') == std::string::npos) continue;
    rows.push_back({trimmed(cells[1]), trimmed(cells[3]), in_backticks(cells[4]), in_backticks(cells[5])});
  }
  return rows;
}

std::string all_tests(const fs::path& root) {
  std::string text;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().string().ends_with("_test.cpp")) text += read_text(entry.path());
  }
  return text;
}

TEST(PaperMap, NamesOnlyWhatExists) {
  const fs::path source = SPNN_SOURCE_DIR;
  const auto rows = rows_of(source / "docs/paper_map.md");
  ASSERT_GE(rows.size(), 25U);
  const auto tests = all_tests(source / "tests");
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    ASSERT_TRUE(fs::exists(source / row.file)) << row.file;
    const auto text = read_text(source / row.file);
    EXPECT_FALSE(row.symbols.empty());
    EXPECT_FALSE(row.tests.empty());
    for (const auto& symbol : row.symbols) {
      EXPECT_TRUE(std::regex_search(text, std::regex("\\b" + symbol + "\\b"))) << symbol << " in " << row.file;
    }
    for (const auto& test : row.tests) {
      const auto dot = test.find('.');
      ASSERT_NE(dot, std::string::npos) << test;
      const std::regex defined("TEST(_P|_F)?\\(" + test.substr(0, dot) + ",\\s*" + test.substr(dot + 1) + "\\)");
      EXPECT_TRUE(std::regex_search(tests, defined)) << test;
    }
  }
}

}  // namespace
}  // namespace spnn
