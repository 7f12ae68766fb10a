#pragma once

#include <spnn/core/config.h>

namespace spnn::engine {

// A report where a job asks for one; "" is nowhere. Internal to jobs/.
inline void write_json(const std::string& file, const Json& json) {
  if (!file.empty()) write_text_atomically(file, json.dump(2) + "\n");
}

}  // namespace spnn::engine
