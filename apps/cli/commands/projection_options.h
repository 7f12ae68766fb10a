#pragma once

#include "command.h"

namespace spnn::cli {

// Options that verify, pinv and project have in common.
inline void add_network(CLI::App& command, app::NetworkChoice& network) {
  command.add_option("MODEL", network.model,
                     "model file (ours or a public checkpoint), or preset:NAME for a preset with random weights")
      ->required()
      ->check([](const std::string& text) {
        return text.starts_with("preset:") ? std::string() : CLI::ExistingFile(text);
      });
  command.add_option("--device", network.device, "device to compute on (cpu, cuda, …)")->capture_default_str();
  command.add_flag("--double", network.in_double, "compute in double precision");
}

// NAME=VALUE pairs.
inline void add_target(CLI::App& command, app::TargetChoice& target, const std::string& set_over) {
  auto* image = command.add_option("--onto", target.image, "target: the outputs of this image")->check(CLI::ExistingFile);
  auto* values =
      command.add_option("--values", target.values,
                         "target: outputs from a file, a JSON array or numbers separated by blanks or commas")
          ->check(CLI::ExistingFile);
  image->excludes(values);
  command
      .add_option_function<std::vector<std::string>>(
          "--set",
          [&target](const std::vector<std::string>& pairs) {
            for (const auto& pair : pairs) {
              const auto equals = pair.find('=');
              try {
                std::size_t used = 0;
                const auto text = equals == std::string::npos ? "" : pair.substr(equals + 1);
                const double value = std::stod(text, &used);
                if (used != text.size()) throw std::invalid_argument(text);
                target.set.emplace_back(pair.substr(0, equals), value);
              } catch (const std::logic_error&) {
                throw CLI::ValidationError("--set", "expected NAME=NUMBER, got '" + pair + "'");
              }
            }
          },
          "target: single outputs by name or number, NAME=NUMBER …, over " + set_over)
      ->allow_extra_args();
}

inline void add_pseudo_inverse(CLI::App& command, std::string& pseudo_inverse, std::uint64_t& seed) {
  command.add_option("--pseudo-inverse", pseudo_inverse, "how the discarded part is chosen")
      ->check(CLI::IsMember({"learned", "origin", "anchored", "random", "min-norm"}))
      ->capture_default_str();
  command.add_option("--seed", seed, "seed of the random pseudo-inverse")->capture_default_str();
}

inline void print(const app::ProjectReport& report) {
  std::printf("%-22s %10s %10s %10s %10s\n", "output", "before", "target", "after", "saved");
  for (const auto& o : report.outputs) {
    std::printf("%-22s %10.4f %10.4f %10.4f %10.4f\n", o.name.c_str(), o.before, o.target, o.after, o.saved);
  }
  std::printf("largest miss %.3g, of the saved 8-bit file %.3g; moved by %.4g (root mean square)\n", report.consistency,
              report.consistency_saved, report.moved);
}

}  // namespace spnn::cli
