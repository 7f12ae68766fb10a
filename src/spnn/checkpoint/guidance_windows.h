#pragma once

#include <spnn/core/config.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace spnn {

// Where guidance by a network should begin, as far as its file says: guide only below this t. How early a picture can
// hear what g asks for depends on what g was trained to see, so it is a property of the model. In a file the metadata
// `guidance`: {"reconstruct_window": 1000, "edit_window": 500}.
struct GuidanceWindows {
  std::optional<std::int64_t> reconstruct = {}, edit = {};

  bool empty() const { return !reconstruct && !edit; }
  friend bool operator==(const GuidanceWindows&, const GuidanceWindows&) = default;
};

Json to_json(const GuidanceWindows& windows);   // only what is known
GuidanceWindows guidance_windows_from(const Json& json, const std::string& where);

// What the metadata of a file say; `where` is the file.
GuidanceWindows guidance_windows_in(const std::map<std::string, std::string>& metadata, const std::string& where);

}  // namespace spnn
