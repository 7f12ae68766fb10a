#pragma once

#include <spnn/networks/spnn_config.h>

#include <span>
#include <string_view>

namespace spnn {

// Networks by name, for any number of outputs (0: the preset's own).
//   reference-32, reference-64, reference-256   the public reference networks, 40 outputs, public weights load by name
//   celebahq64                                  ours for 64×64 faces, 40 outputs, 5 M parameters, for a 2-core machine
//   fashion                                     ours for 32×32 grey images, 10 outputs, 1 M parameters
SpnnConfig spnn_preset(std::string_view name, std::int64_t outputs = 0);

std::span<const std::string_view> spnn_preset_names();

}  // namespace spnn
