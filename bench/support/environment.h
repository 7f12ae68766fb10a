#pragma once

#include <process_environment.h>
#include <unistd.h>

namespace spnn::bench {

// A benchmark is linked with libtorch, whose libraries read the environment before main: start again with the one that the
// command line gives them, for all contestants alike.
inline void use_environment_of_the_command(char** argv) {
  if (std::getenv("SPNN_BENCH_STARTED") != nullptr) return;
  setenv("SPNN_BENCH_STARTED", "1", 1);
  prepare_environment();
  execv("/proc/self/exe", argv);
}

}  // namespace spnn::bench
