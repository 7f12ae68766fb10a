#include "standard_output.h"

#include <spnn/core/printable.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <streambuf>

namespace spnn::cli {
namespace {

PrintableText filter;
int reason = 0;   // errno of the first write that failed

bool write_out(std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      if (reason == 0) reason = count < 0 ? errno : ENOSPC;
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

ssize_t write_filtered(void* /*cookie*/, const char* data, std::size_t size) {
  return write_out(filter.take({data, size})) ? static_cast<ssize_t>(size) : 0;
}

// std::cout has no buffer of its own: the order of what the two print is kept.
class ToStdout final : public std::streambuf {
  int overflow(int c) override { return c == EOF || std::fputc(c, stdout) == c ? 0 : EOF; }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    return static_cast<std::streamsize>(std::fwrite(text, 1, static_cast<std::size_t>(size), stdout));
  }
  int sync() override { return std::fflush(stdout); }
};

}  // namespace

void guard_standard_output() {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  auto* guarded = fopencookie(nullptr, "w", {.read = nullptr, .write = write_filtered, .seek = nullptr, .close = nullptr});
  if (!guarded) return;
  std::setvbuf(guarded, nullptr, terminal ? _IOLBF : _IOFBF, BUFSIZ);
  stdout = guarded;
  static ToStdout buffer;
  std::cout.rdbuf(&buffer);
}

bool flush_standard_output() {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && reason == 0 && write_out(filter.rest())) return true;
  std::cerr << "spnn: expected standard output to take all of the text, got '" << std::strerror(reason ? reason : errno) << "'\n";
  return false;
}

}  // namespace spnn::cli
