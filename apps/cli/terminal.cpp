#include <fmt/format.h>
#include <spnn/core/printable.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>

#include "command.h"

namespace spnn::cli {
namespace {

using Clock = std::chrono::steady_clock;
std::atomic<bool> interrupted = false, polled = false;

// Work that asks whether it is cancelled ends at its next step, and a second signal kills it. Other work would never hear of
// the signal: that ends the process, as if nobody had caught it.
void hear(int signal) {
  std::signal(signal, SIG_DFL);
  if (!polled) std::raise(signal);
  interrupted = true;
}

std::string duration(double seconds) {
  const auto s = static_cast<long>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  if (s >= 60) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}s", s);
}

class Terminal final : public Observer {
 public:
  Terminal() : tty_(isatty(STDERR_FILENO)) {
    for (const int which : {SIGINT, SIGTERM}) std::signal(which, hear);
  }

  void progress(std::int64_t done, std::int64_t total, const std::string& what) override {
    const auto now = Clock::now();
    if (done < done_ || total != total_) {
      start_ = now;
      first_ = done;
    }
    done_ = done;
    total_ = total;
    const bool last = done >= total;
    // A log file gets a line every ten seconds, a person five updates a second.
    const auto pause = std::chrono::milliseconds(tty_ ? 200 : 10000);
    if (!last && now - shown_ < pause) return;
    shown_ = now;
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    // Nothing is known of the time left before a first part is done.
    const auto left = done > first_ ? duration(elapsed / double(done - first_) * double(total - done)) + " left" : std::string();
    std::fprintf(stderr, "%s%s", tty_ ? "\r\033[K" : "",
                 fmt::format("{}/{}  {}  {}", done, total, without_controls(what, /*keep_lines=*/false),
                             last ? "in " + duration(elapsed) : left).c_str());
    if (!tty_ || last) std::fputc('\n', stderr);
    std::fflush(stderr);
  }

  void message(const std::string& text) override {
    std::fprintf(stderr, "%s%s\n", tty_ ? "\r\033[K" : "", without_controls(text, /*keep_lines=*/true).c_str());
  }

  bool cancelled() const override {
    polled = true;
    return interrupted;
  }

 private:
  bool tty_;
  std::int64_t done_ = 0, total_ = -1, first_ = 0;
  Clock::time_point start_ = Clock::now(), shown_{};
};

}  // namespace

Observer& terminal() {
  static Terminal terminal;
  return terminal;
}

}  // namespace spnn::cli
