#include <spnn/jobs/flow_images.h>
#include <spnn/core/errors.h>

#include <algorithm>

namespace spnn::engine {

void cut_border(Dataset& set, std::int64_t border) {
  if (border == 0) return;
  const auto height = set.images.size(2), width = set.images.size(3);
  require(2 * border < std::min(height, width), "flow.border", fmt::format("less than half of {}×{}", height, width),
          std::to_string(border));
  set.images = set.images.slice(2, border, height - border).slice(3, border, width - border).contiguous();
}

Dataset load_for_flow(const std::string& data, Split split, const FlowConfig& config, std::int64_t limit) {
  auto set = load_dataset(data, {.split = split, .size = config.input.height + 2 * config.border,
                                 .channels = config.input.channels, .limit = limit});
  require(set.size() > 0, data, fmt::format("images in the split '{}'", to_string(split)), "none",
          "see 'spnn data info' for the splits of a set");
  cut_border(set, config.border);
  return set;
}

}  // namespace spnn::engine
