#pragma once

#include <process_environment.h>
#include <unistd.h>

#ifdef SPNN_JEMALLOC
// As the command line sets it (apps/cli/main.cpp), for all contestants; freed memory is kept for ever, since on a busy
// machine the command's ten seconds may pass between two rounds.
extern "C" {
const char* malloc_conf = "thp:always,dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0";
}
#endif

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
