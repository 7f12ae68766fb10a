#include <spnn/core/nearest_names.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace spnn {
namespace {

bool same(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto replaced = diagonal + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view wanted, const std::vector<std::string>& names, std::size_t count) {
  auto sorted = names;
  std::ranges::stable_sort(sorted, {}, [&](const std::string& name) { return edit_distance(wanted, name); });
  sorted.resize(std::min(count, sorted.size()));
  return sorted;
}

}  // namespace spnn
