#pragma once

#include <CLI/CLI.hpp>

#include <spnn/app/experiments.h>

namespace spnn::cli {

// Options that several restoration commands have. Each adds them to `command` and fills the struct.
struct ModelRoles {
  bool classifier = true, judge = false;   // which models the command has beside the prior
};
void add_models(CLI::App& command, app::ModelChoice& models, ModelRoles roles = {});
void add_sampling(CLI::App& command, app::SamplingOptions& sampling);
void add_guidance(CLI::App& command, app::GuidanceOptions& guidance, std::int64_t default_window);
void add_experiment(CLI::App& command, app::ExperimentJob& job, std::int64_t default_window = app::reconstruct_window);   // all of the above, data and outputs

// "Smiling=1", "Smiling=0" or "Smiling" (1), with an optional strategy: "Eyeglasses=1:sparse". Throws
// CLI::ValidationError.
app::AttributeRequest parse_attribute(const std::string& text, bool present = true);

// --set and --unset as one list; the same attribute asked for twice is an error.
struct AttributeWords {
  std::vector<std::string> set, unset;
  std::string strategy = "auto";
  std::vector<app::AttributeRequest> requests() const;
};
void add_attributes(CLI::App& command, AttributeWords& words);
void add_distance(CLI::App& command, double& strength, double& margin);   // of what --set and --unset aim at

// Prints the table, writes the JSON file if one was asked for, and says where the report is.
void finish(const app::ExperimentResult& result, const std::string& json_file);

// The command line as typed, for reports.
std::string command_line();

}  // namespace spnn::cli
