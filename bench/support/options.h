#pragma once

// --name value pairs of a benchmark, and its main function.

#include <spnn/core/errors.h>

#include <cstdio>
#include <map>
#include <string>

#include "environment.h"

namespace spnn::bench {

struct Options {
  int rounds = 5;
  int threads = 2;
};

// Every benchmark has --rounds and --threads; `more` are its own. `usage` is what an unknown one is answered with.
inline void parse(int argc, char** argv, Options& options, const std::map<std::string, std::string*>& more, const std::string& usage) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--rounds") options.rounds = std::stoi(value);
    else if (key == "--threads") options.threads = std::stoi(value);
    else if (const auto own = more.find(key); own != more.end()) *own->second = value;
    else fail("benchmark", usage, key);
  }
}

// Exit code 2 and a sentence where something throws.
inline int run_main(int argc, char** argv, int (*run)(int, char**)) {
  use_environment_of_the_command(argv);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", what_without_backtrace(error).c_str());
    return 2;
  }
}

}  // namespace spnn::bench
