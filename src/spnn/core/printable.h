#pragma once

#include <string>
#include <string_view>

namespace spnn {

// Text of a file or a user as a terminal may see it, piece by piece: control characters (escape sequences among them)
// become '?'. For programs that do not link the library too.
class PrintableText {
 public:
  explicit PrintableText(bool keep_lines = true) : keep_lines_(keep_lines) {}

  std::string take(std::string_view piece) {
    std::string out;
    out.reserve(piece.size() + 1);
    for (const char c : piece) add(c, out);
    return out;
  }

  // What was held back, as the next byte would have decided it.
  std::string rest() {
    std::string out;
    if (held_) out = kLead;
    held_ = false;
    return out;
  }

 private:
  // C1 controls are two bytes in UTF-8, U+0080…U+009F; some terminals obey them.
  static constexpr char kLead = '\xC2';

  void add(char c, std::string& out) {
    const auto byte = static_cast<unsigned char>(c);
    if (held_) {
      held_ = false;
      if (byte >= 0x80 && byte < 0xA0) {
        out += '?';
        return;
      }
      out += kLead;
    }
    const bool line = c == '\n' || c == '\t';
    if (c == kLead) held_ = true;
    else out += (byte < 0x20 && !(line && keep_lines_)) || byte == 0x7f ? '?' : c;
  }

  bool keep_lines_, held_ = false;
};

// The same in one piece.
inline std::string without_controls(std::string_view text, bool keep_lines) {
  PrintableText filter(keep_lines);
  auto out = filter.take(text);
  return out + filter.rest();
}

}  // namespace spnn
