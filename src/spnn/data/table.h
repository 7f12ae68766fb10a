#pragma once

// Rows of text tables with their line numbers: the one reader of CSV.

#include <string>
#include <string_view>
#include <vector>

namespace spnn {

struct Row {
  int line = 0;
  std::vector<std::string> cells;
};

enum class Separator { blanks, comma };

// Blank lines are left out, a byte-order mark and carriage returns removed; in CSV, "quoted, cells" may hold
// commas and doubled quotes.
std::vector<Row> read_rows(std::string_view text, Separator separator);

}  // namespace spnn
