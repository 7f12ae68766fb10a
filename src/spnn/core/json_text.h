#pragma once

#include <spnn/core/config.h>

namespace spnn {

// What a text may ask of its reader. Deeper nesting would exhaust the stack of whoever walks the result.
struct JsonLimits {
  int depth = 64;
  std::size_t values = 1'000'000;
  bool comments = false;
};

// JSON, in time and memory linear in the text. A key that comes twice is an error, as is anything beyond the limits.
Json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits = {});

// The text of a configuration file; its name says which kind it is and is in the errors.
Json parse_config(std::string_view text, const std::filesystem::path& file);

// A value as an error quotes it.
std::string excerpt(const Json& value);

}  // namespace spnn
