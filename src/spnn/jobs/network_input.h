#pragma once

// A user's pictures and outputs as a network takes them. Internal to jobs/.

#include <spnn/checkpoint/models.h>
#include <spnn/engine/requests.h>

namespace spnn::engine {

// "celebahq64: 3×64×64 → 40, 6 levels, 4.98 M parameters, float"
std::string describe_network(const Spnn& net);

// [1, C, H, W] in [−1, 1] with the network's device and type; cut to its proportions and resized.
Tensor open_input(const Photo& photo, const Spnn& net);

// y as [1, …] from a choice; `base` is what single outputs are set over (undefined: zeros).
Tensor open_target(const OutputsRequest& wanted, const SpnnModel& model, const Tensor& base);

// The names of the outputs, or their numbers.
std::vector<std::string> output_names(const SpnnModel& model);

}  // namespace spnn::engine
