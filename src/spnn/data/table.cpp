#include <spnn/data/table.h>

namespace spnn {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> split_blanks(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t at = line.find_first_not_of(" \t"); at != line.npos;) {
    const auto end = line.find_first_of(" \t", at);
    cells.emplace_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t", end);
  }
  return cells;
}

std::vector<std::string> split_commas(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false, was_quoted = false;
  const auto finish = [&] {
    if (!was_quoted) cells.back() = std::string(trimmed(cells.back()));
    was_quoted = false;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"')
        cells.back() += line[i++];
      else
        quoted = !quoted, was_quoted = true;
    } else if (line[i] == ',' && !quoted) {
      finish();
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  finish();
  return cells;
}

}  // namespace

std::vector<Row> read_rows(std::string_view text, Separator separator) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<Row> rows;
  for (int line = 1; !text.empty(); ++line) {
    const auto end = text.find('\n');
    auto content = text.substr(0, end);
    if (content.ends_with('\r')) content.remove_suffix(1);
    if (!trimmed(content).empty()) {
      rows.push_back({line, separator == Separator::comma ? split_commas(content) : split_blanks(content)});
    }
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return rows;
}

}  // namespace spnn
