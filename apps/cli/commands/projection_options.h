#pragma once

#include "restoration_options.h"

namespace spnn::cli {

// What verify, pinv and project have in common.
struct NetworkArguments {
  engine::ModelChoice models;
  std::string device = "cpu", json, onto;
  bool in_double = false;

  std::unique_ptr<engine::Session> open() const { return session(models, device, in_double); }
};
void add_network(CLI::App& command, NetworkArguments& network);

// --onto, --values and NAME=VALUE pairs.
void add_target(CLI::App& command, NetworkArguments& network, engine::OutputsRequest& target, const std::string& set_over);
void add_pseudo_inverse(CLI::App& command, std::string& pseudo_inverse, std::uint64_t& seed);

// Writes the image and the JSON file, if one was asked for, and prints the outputs.
void finish(const engine::ProjectResult& result, const std::vector<std::string>& names, const std::string& output, const std::string& json);

// JSON to a file; "" is nowhere.
void write_json(const std::string& file, const std::string& json);

}  // namespace spnn::cli
