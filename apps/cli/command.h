#pragma once

#include <CLI/CLI.hpp>

#include <spnn/app/engine.h>

namespace spnn::cli {

// Loads libspnn (and libtorch) on first use and sets the number of threads.
app::Engine& engine();

// Every command file defines one of these: it adds its subcommand, options and callback. The callback fills a job of
// std types and hands it to engine(). commands.h lists them in the order of the help text.
using AddCommand = void (*)(CLI::App& spnn);

// Progress on the terminal with an estimate of the time left; SIGINT sets cancelled().
Observer& terminal();

}  // namespace spnn::cli
