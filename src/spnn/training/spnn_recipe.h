#pragma once

#include <spnn/checkpoint/guidance_windows.h>
#include <spnn/core/rng.h>
#include <spnn/data/dataset.h>
#include <spnn/data/task.h>
#include <spnn/networks/spnn.h>

#include <map>

namespace spnn {

// What the trainers of phases I and III have in common around their losses.

// In a recipe: the name of a preset, or the whole architecture.
SpnnConfig recipe_network(const Json& said);

// With new weights. Throws unless it is for images like these and has an output for each of their labels.
std::shared_ptr<Spnn> network_for(const Dataset& train, const SpnnConfig& config, const Rng& rng);

// Of the model's file.
std::map<std::string, std::string> spnn_metadata(const Spnn& net, const Dataset& labelled, Task task, const Json& recipe, const GuidanceWindows& guidance);

}  // namespace spnn
