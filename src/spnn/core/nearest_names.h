#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spnn {

// The `count` names nearest to a mistyped one by edit distance, upper and lower case counting as equal.
std::vector<std::string> nearest_names(std::string_view wanted, const std::vector<std::string>& names, std::size_t count);

}  // namespace spnn
