#pragma once

// What the launcher does about memory that is not there: a sentence and code 1, never a hang and never a signal.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <new>
#include <string_view>

namespace spnn::cli {

// libtorch and the libraries below it take 0.6 GB of addresses before they do anything, and OpenBLAS asks for its 128 MB
// again and again, for ever, where a limit (`ulimit -v`, a container) refuses them. So it is tried before they are loaded.
inline constexpr std::size_t room_of_the_engine = std::size_t{1} << 30;

inline bool has_room_for_engine() {
  void* const room =
      mmap(nullptr, room_of_the_engine, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, room_of_the_engine);
  return true;
}

inline void say(std::string_view text) {
  while (!text.empty()) {
    const auto written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Some destructors of the libraries below ask for memory; where there is none, C++ calls this. Files are whole by then, or
// not there: they are renamed to their place when they are.
[[noreturn]] inline void end_with_a_sentence() {
  if (const auto error = std::current_exception()) {
    try {
      std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
      say("spnn: expected enough memory, got none\n");
    } catch (const std::exception& other) {
      say("spnn: expected to go on, got ");
      say(other.what());
      say("\n");
    } catch (...) { say("spnn: expected to go on, got an unknown error\n"); }
  } else {
    say("spnn: expected to go on, got an error inside of an error\n");
  }
  _exit(1);
}

}  // namespace spnn::cli
