#include <spnn/core/errors.h>
#include <spnn/core/text.h>

namespace spnn {

void fail(std::string_view where, std::string_view expected, std::string_view got, std::string_view hint) {
  constexpr std::size_t longest = 4000;   // lists of names are long; a file's text may be endless
  auto text = fmt::format("{}: expected {}, got {}", where.substr(0, longest), expected.substr(0, longest), got.substr(0, longest));
  if (!hint.empty()) text += fmt::format(" ({})", hint);
  throw Error(printable(text));
}

}  // namespace spnn
