#include <spnn/core/text.h>

namespace spnn {
namespace {

// C1 controls are two bytes in UTF-8, U+0080…U+009F; some terminals obey them.
bool is_c1_control(std::string_view text, std::size_t at) {
  return text[at] == '\xC2' && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0x80 &&
         static_cast<unsigned char>(text[at + 1]) < 0xA0;
}

std::string without_controls(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool line = c == '\n' || c == '\t';
    if (is_c1_control(text, i)) {
      out += '?';
      ++i;
    } else if ((c < 0x20 && !(line && keep_lines)) || c == 0x7f) {
      out += '?';
    } else {
      out += text[i];
    }
  }
  return out;
}

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
