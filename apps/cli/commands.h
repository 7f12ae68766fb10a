#pragma once

#include "command.h"

namespace spnn::cli {

// One line a command, defined in commands/NAME.cpp.

// The order of `spnn --help`.
inline constexpr std::initializer_list<AddCommand> all_commands = {};

}  // namespace spnn::cli
