#include <spnn/checkpoint/byte_reader.h>

namespace spnn {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string shown = "'";
  for (const char c : text.substr(0, longest)) {
    const bool printable = static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    shown += printable ? c : '?';
  }
  return shown + (text.size() > longest ? "…'" : "'");
}

}  // namespace spnn
