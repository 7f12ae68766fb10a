#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace spnn::engine {

// Which model files a job uses. An empty name means the shipped FAMILY-ROLE.safetensors.
struct ModelChoice {
  std::string family = "celebahq64";   // or "fashion"
  std::string classifier = {}, prior = {}, judge = {};
  std::int64_t size = 0;               // of the images to make: 0 is the prior's own, more asks for the second stage,
  std::string upscaler = {};           // "" is the shipped celebahq256-upscaler.safetensors
  std::optional<double> lead = {};     // how far images are led away from the prior's weak one; none: as its file says, and not where g guides
};

// `given`, or the shipped file of this role ("classifier", "prior", "judge"): searched in models/ two folders above the
// library (a build tree) and in share/spnn/models beside its lib folder (installed). Errors say where was looked.
std::string model_file(const std::string& given, const std::string& family, const std::string& role);

}  // namespace spnn::engine
