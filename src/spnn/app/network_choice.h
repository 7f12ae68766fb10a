#pragma once

#include <spnn/app/projection.h>
#include <spnn/checkpoint/models.h>

namespace spnn::app {

// The network on its device and in its type, frozen.
SpnnModel open_network(const NetworkChoice& choice);

// "celebahq64: 3×64×64 → 40, 6 levels, 4.98 M parameters, float"
std::string describe_network(const Spnn& net);

// A picture as the network wants it: [1, C, H, W] in [−1, 1]; cropped to the network's aspect and resized.
Tensor open_image(const std::string& file, const Spnn& net);

// y as [1, …] from a choice; `base` is what single outputs are set over (undefined: zeros).
Tensor open_target(const TargetChoice& choice, const SpnnModel& model, const Tensor& base);

// The names of the outputs, or their numbers.
std::vector<std::string> output_names(const SpnnModel& model);

}  // namespace spnn::app
