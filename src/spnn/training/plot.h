#pragma once

#include <filesystem>
#include <string>

namespace spnn {

// The curves of a run as one SVG: loss parts on a logarithmic axis, gradient norm, rate, images per second, and every
// figure of the validation. Reads record.csv and validation.csv of the run directory; throws if there is neither.
std::string plot_run(const std::filesystem::path& run);

}  // namespace spnn
