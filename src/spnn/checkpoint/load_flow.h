#pragma once

#include <spnn/flows/flow.h>

#include <filesystem>
#include <memory>

namespace spnn {

// A density model for inference: weights in float, without gradients. A file of another kind is refused by name.
std::shared_ptr<Flow> load_flow(const std::filesystem::path& file);

}  // namespace spnn
