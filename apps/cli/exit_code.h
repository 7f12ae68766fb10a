#pragma once

#include <CLI/CLI.hpp>

namespace spnn::cli {

// libspnn is not there, or of another build.
class NoEngine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Parses, runs the chosen command, and turns every failure into one line on standard error and an exit code:
// 0 success, 1 failure (also when standard output could not take what was printed), 2 usage, 130 interrupted.
int run(CLI::App& spnn, int argc, char** argv);

}  // namespace spnn::cli
