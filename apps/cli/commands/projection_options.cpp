#include "projection_options.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>

namespace spnn::cli {
namespace {

std::pair<std::string, double> output_and_value(const std::string& pair) {
  const auto equals = pair.find('=');
  try {
    std::size_t used = 0;
    const auto text = equals == std::string::npos ? "" : pair.substr(equals + 1);
    const double value = std::stod(text, &used);
    if (used != text.size()) throw std::invalid_argument(text);
    return {pair.substr(0, equals), value};
  } catch (const std::logic_error&) {
    throw CLI::ValidationError("--set", "expected NAME=NUMBER, got '" + pair + "'");
  }
}

}  // namespace

void add_network(CLI::App& command, NetworkArguments& network) {
  command.add_option("MODEL", network.models.classifier,
                     "model file (ours or a public checkpoint), or preset:NAME for a preset with random weights")
      ->required()
      ->check([](const std::string& text) { return text.starts_with("preset:") ? std::string() : CLI::ExistingFile(text); });
  add_device(command, network.device);
  command.add_flag("--double", network.in_double, "compute in double precision");
  command.add_option("--json", network.json, "also write the report to this file");
}

void add_target(CLI::App& command, NetworkArguments& network, engine::OutputsRequest& target, const std::string& set_over) {
  auto* image = command.add_option("--onto", network.onto, "target: the outputs of this image")->check(CLI::ExistingFile);
  command.add_option("--values", target.values_file, "target: outputs from a file, a JSON array or numbers separated by blanks or commas")
      ->check(CLI::ExistingFile)
      ->excludes(image);
  command
      .add_option_function<std::vector<std::string>>(
          "--set", [&target](const std::vector<std::string>& pairs) { for (const auto& pair : pairs) target.set.push_back(output_and_value(pair)); },
          "target: single outputs by name or number, NAME=NUMBER …, over " + set_over)
      ->allow_extra_args();
}

void add_pseudo_inverse(CLI::App& command, std::string& pseudo_inverse, std::uint64_t& seed) {
  command.add_option("--pseudo-inverse", pseudo_inverse, "how the discarded part is chosen")
      ->check(CLI::IsMember(pseudo_inverses()))
      ->capture_default_str();
  command.add_option("--seed", seed, "seed of the random pseudo-inverse")->capture_default_str();
}

void write_json(const std::string& file, const std::string& json) {
  if (!file.empty()) engine().write_file(file, json + "\n");
}

void finish(const engine::ProjectResult& result, const std::vector<std::string>& names, const std::string& output, const std::string& json_file) {
  auto extension = std::filesystem::path(output).extension().string();
  const auto bytes = engine().encode(result.image, extension.empty() ? "" : extension.substr(1), 95);
  engine().write_file(output, {bytes.begin(), bytes.end()});
  nlohmann::json json{{"consistency", result.consistency}, {"consistency_saved", result.consistency_saved},
                      {"moved", result.moved}, {"outputs", nlohmann::json::array()}};
  std::printf("%-22s %10s %10s %10s %10s\n", "output", "before", "target", "after", "saved");
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::printf("%-22s %10.4f %10.4f %10.4f %10.4f\n", names[i].c_str(), result.before[i], result.target[i], result.after[i], result.saved[i]);
    json["outputs"].push_back({{"name", names[i]}, {"before", result.before[i]}, {"target", result.target[i]}, {"after", result.after[i]},
                               {"saved", result.saved[i]}});
  }
  std::printf("largest miss %.3g, of the saved 8-bit file %.3g; moved by %.4g (root mean square)\n", result.consistency,
              result.consistency_saved, result.moved);
  write_json(json_file, json.dump(2));
}

}  // namespace spnn::cli
