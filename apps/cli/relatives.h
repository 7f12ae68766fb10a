#pragma once

#include <spnn/app/relatives.h>

#include "command.h"

namespace spnn::cli {

// Loads libspnn on first use, as engine() does.
app::Relatives& relatives();

// Their commands, after the others in `spnn --help`.
void add_density(CLI::App& spnn);
void add_preimages(CLI::App& spnn);
void add_inverses(CLI::App& spnn);
inline constexpr std::initializer_list<AddCommand> relatives_commands = {add_density, add_preimages, add_inverses};

}  // namespace spnn::cli
