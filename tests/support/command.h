#pragma once

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "support/temporary.h"

namespace spnn::testing {

struct CommandResult {
  int exit_code = 0;
  std::string out, err;
};

// Runs the built command line as a user does: `arguments` go through the shell.
inline CommandResult spnn_command(const std::string& arguments, const std::string& binary_folder = SPNN_BINARY_DIR) {
  const TemporaryFolder folder;
  const int status = std::system(fmt::format("'{}/spnn' --threads 1 {} >'{}' 2>'{}'", binary_folder,
                                             arguments, (folder / "out").string(), (folder / "err").string())
                                     .c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, file_text(folder / "out"), file_text(folder / "err")};
}

}  // namespace spnn::testing
