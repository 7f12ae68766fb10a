#pragma once

#include <spnn/engine/restoration.h>

#include <string>
#include <vector>

namespace spnn::cli {

const std::vector<std::string>& strategies();   // that attributes can have

// "Smiling=1", "Smiling=0" or "Smiling" (1), with an optional strategy: "Eyeglasses=1:sparse". Throws
// CLI::ValidationError.
engine::AttributeRequest parse_attribute(const std::string& text, bool present = true);

}  // namespace spnn::cli
