#include <spnn/core/config.h>
#include <spnn/core/io.h>
#include <spnn/core/json_text.h>
#include <spnn/core/text.h>

#define TOML_HEADER_ONLY 0   // Debian ships the compiled library
#define TOML_SHARED_LIB 1
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

namespace spnn {
namespace {

constexpr std::uint64_t kLargestToml = 4 << 20, kLargestJson = 64 << 20;   // toml++ takes twenty times the file
constexpr int kDeepestToml = 32;   // of brackets, and of the dots of one key

// toml++ builds and destroys tables by recursion, and a dotted key nests as deeply as it has dots: both are counted before
// it sees the text. Strings and comments are skipped by TOML's own rules, so that what is valid is counted rightly; what is
// not valid ends the parser before it gets there.
class TomlNesting {
 public:
  explicit TomlNesting(std::string_view text) : text_(text) {}

  bool too_deep() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        skip_past("\n");
        dots_ = 0;
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else {
        count(c);
        ++at_;
      }
      if (dots_ > kDeepestToml || brackets_ > kDeepestToml) return true;
    }
    return false;
  }

  std::int64_t line() const { return 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'); }

 private:
  void count(char c) {
    if (c == '.') ++dots_;
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{' || c == ']' || c == '}') dots_ = 0;
    if (c == '[' || c == '{') ++brackets_;
    if ((c == ']' || c == '}') && brackets_ > 0) --brackets_;
  }

  void skip_past(std::string_view end) {
    const auto found = text_.find(end, at_);
    at_ = found == text_.npos ? text_.size() : found + end.size();
  }

  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool several_lines = text_.substr(at_, 3) == three;
    const auto end = several_lines ? three : std::string(1, quote);
    at_ += end.size();
    while (at_ < text_.size() && text_.substr(at_, end.size()) != end) {
      if (!several_lines && text_[at_] == '\n') return;   // no TOML: the parser will say so
      at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + end.size(), text_.size());
    while (several_lines && at_ < text_.size() && text_[at_] == quote) ++at_;   // """" may end a text with a quote
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int dots_ = 0, brackets_ = 0;
};

Json parse_toml(std::string_view text, const std::string& file) {
  TomlNesting nesting(text);
  if (nesting.too_deep())
    fail(fmt::format("{}:{}", file, nesting.line()), fmt::format("tables nested at most {} deep", kDeepestToml), "deeper ones");
  try {
    std::ostringstream out;
    out << toml::json_formatter{toml::parse(text)};
    return parse_json(std::move(out).str(), file);
  } catch (const toml::parse_error& error) {
    fail(fmt::format("{}:{}", file, error.source().begin.line), "TOML", shortened(error.description()));
  }
}

}  // namespace

Json parse_config(std::string_view text, const std::filesystem::path& file) {
  return naming_the_file(file.string(), [&] {
    if (file.extension() == ".toml") return parse_toml(text, file.string());
    return parse_json(text, file.string(), {.comments = true});
  });
}

Json read_config(const std::filesystem::path& file) {
  return parse_config(read_text(file, file.extension() == ".toml" ? kLargestToml : kLargestJson), file);
}

std::string read_text(const std::filesystem::path& file) { return read_text(file, largest_text); }

void write_text_atomically(const std::filesystem::path& file, std::string_view text) { write_atomically(file, text); }

}  // namespace spnn
