#include "attribute_request.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <spnn/restoration/strategy.h>

#include <algorithm>

namespace spnn::cli {

const std::vector<std::string>& strategies() {
  static const auto words = words_of(kStrategies);
  return words;
}

engine::AttributeRequest parse_attribute(const std::string& text, bool present) {
  engine::AttributeRequest request{.name = text, .present = present};
  if (const auto colon = request.name.find(':'); colon != std::string::npos) {
    request.strategy = request.name.substr(colon + 1);
    request.name.resize(colon);
    if (std::ranges::find(strategies(), request.strategy) == strategies().end()) {
      throw CLI::ValidationError(text, fmt::format("expected the strategy {}, got '{}'", fmt::join(strategies(), ", "), request.strategy));
    }
  }
  if (const auto equals = request.name.find('='); equals != std::string::npos) {
    const auto value = request.name.substr(equals + 1);
    request.name.resize(equals);
    double number = 0;
    if (!CLI::detail::lexical_cast(value, number) || !(number >= 0 && number <= 1)) {   // so is not a number
      throw CLI::ValidationError(text, "expected NAME=1, NAME=0 or a probability between them, got '" + value + "'");
    }
    if (number > 0 && number < 1) request.probability = present ? number : 1 - number;
    request.present = (number > 0.5) == present;
  }
  if (request.name.empty()) throw CLI::ValidationError(text, "expected the name of an attribute, got none");
  return request;
}

}  // namespace spnn::cli
