#include <spnn/core/errors.h>

#include <c10/util/Exception.h>

namespace spnn {

void fail(std::string_view where, std::string_view expected, std::string_view got, std::string_view hint) {
  auto text = fmt::format("{}: expected {}, got {}", where, expected, got);
  if (!hint.empty()) text += fmt::format(" ({})", hint);
  throw Error(text);
}

std::string what_without_backtrace(const std::exception& error) {
  if (const auto* torch_error = dynamic_cast<const c10::Error*>(&error)) {
    return torch_error->what_without_backtrace();
  }
  return error.what();
}

}  // namespace spnn
