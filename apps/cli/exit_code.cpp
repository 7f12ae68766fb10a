#include "exit_code.h"

#include <cstring>
#include <iostream>

#include "command.h"

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

}  // namespace

int run(CLI::App& spnn, int argc, char** argv) {
  try {
    spnn.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& success) {
    return spnn.exit(success);
  } catch (const CLI::RuntimeError& code) {   // a command that measured and found something out of bounds
    return code.get_exit_code();
  } catch (const CLI::ParseError& error) {
    std::cerr << "spnn: " << error.what() << "\n";
    const auto chosen = spnn.get_subcommands();
    std::cerr << "Run 'spnn " << (chosen.empty() ? "" : chosen.front()->get_name() + " ") << "--help' for the options.\n";
    return 2;
  } catch (const std::exception& error) {
    return report(error);
  }
}

}  // namespace spnn::cli
