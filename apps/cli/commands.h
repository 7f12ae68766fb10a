#pragma once

#include "command.h"

namespace spnn::cli {

// One line per command, defined in commands/NAME.cpp.
void add_data(CLI::App& spnn);
void add_pinv(CLI::App& spnn);
void add_project(CLI::App& spnn);
void add_sample(CLI::App& spnn);
void add_train(CLI::App& spnn);
void add_inspect(CLI::App& spnn);
void add_convert(CLI::App& spnn);
void add_reconstruct(CLI::App& spnn);
void add_edit(CLI::App& spnn);
void add_operators(CLI::App& spnn);
void add_restore(CLI::App& spnn);
void add_compare(CLI::App& spnn);
void add_evaluate(CLI::App& spnn);
void add_ablate(CLI::App& spnn);
void add_verify(CLI::App& spnn);
void add_density(CLI::App& spnn);
void add_preimages(CLI::App& spnn);
void add_inverses(CLI::App& spnn);

// The order of `spnn --help`.
inline constexpr std::initializer_list<AddCommand> all_commands = {
    add_data,
    add_sample,
    add_train,
    add_inspect,
    add_convert,
    add_reconstruct,
    add_edit,
    add_operators,
    add_restore,
    add_compare,
    add_evaluate,
    add_ablate,
    add_verify,
    add_pinv,
    add_project,
    add_density,
    add_preimages,
    add_inverses,
};

}  // namespace spnn::cli
