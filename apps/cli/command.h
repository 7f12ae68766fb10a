#pragma once

#include <CLI/CLI.hpp>

#include <spnn/engine/engine.h>

#include <memory>

namespace spnn::cli {

// Loads libspnn (and libtorch) on first use and sets the number of threads.
engine::Engine& engine();

// Every command file defines one of these: it adds its subcommand, options and callback. The callback fills a job of
// std types and hands it to engine(). commands.h lists them in the order of the help text.
using AddCommand = void (*)(CLI::App& spnn);

// Models for one command.
std::unique_ptr<engine::Session> session(const engine::ModelChoice& models, const std::string& device = "cpu", bool in_double = false);

// Progress on the terminal with an estimate of the time left; SIGINT sets cancelled().
Observer& terminal();

}  // namespace spnn::cli
