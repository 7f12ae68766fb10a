#include <spnn/core/printable.h>
#include <spnn/core/text.h>

namespace spnn {
namespace {

// Not in the middle of a character of UTF-8.
std::string_view first_bytes(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace

std::string printable(std::string_view text) { return without_controls(text, /*keep_lines=*/true); }

std::string shortened(std::string_view text, std::size_t longest) {
  return without_controls(first_bytes(text, longest), /*keep_lines=*/false) + (text.size() > longest ? "…" : "");
}

std::string in_quotes(std::string_view text, std::size_t longest) { return "'" + shortened(text, longest) + "'"; }

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace spnn
