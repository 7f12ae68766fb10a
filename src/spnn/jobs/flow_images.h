#pragma once

// Images as a flow sees them: of its size, the border cut off. Internal to jobs/.

#include <spnn/data/dataset.h>
#include <spnn/flows/flow_config.h>

namespace spnn::engine {

Dataset load_for_flow(const std::string& data, Split split, const FlowConfig& config, std::int64_t limit = 0);
void cut_border(Dataset& set, std::int64_t border);

}  // namespace spnn::engine
