#include "exit_code.h"

#include <cstring>
#include <iostream>

#include <spnn/core/printable.h>

#include "command.h"
#include "standard_output.h"

namespace spnn::cli {
namespace {

int report(const std::exception& error) {
  try {
    return engine().report(error, std::cerr);
  } catch (const NoEngine& none) {
    std::cerr << none.what() << "\n";
    return 1;
  }
}

int run_command(CLI::App& spnn, int argc, char** argv) {
  try {
    spnn.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& success) {
    return spnn.exit(success);
  } catch (const CLI::RuntimeError& code) {   // a command that measured and found something out of bounds
    return code.get_exit_code();
  } catch (const CLI::ParseError& error) {
    std::cerr << "spnn: " << without_controls(error.what(), /*keep_lines=*/true) << "\n";
    const auto chosen = spnn.get_subcommands();
    std::cerr << "Run 'spnn " << (chosen.empty() ? "" : chosen.front()->get_name() + " ") << "--help' for the options.\n";
    return 2;
  } catch (const std::exception& error) {
    return report(error);
  }
}

}  // namespace

int run(CLI::App& spnn, int argc, char** argv) {
  guard_standard_output();
  const int code = run_command(spnn, argc, argv);
  return flush_standard_output() || code != 0 ? code : 1;
}

}  // namespace spnn::cli
