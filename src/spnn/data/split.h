#pragma once

#include <spnn/core/names.h>

#include <array>

namespace spnn {

// The part of a data set that an image belongs to, or that is asked for.
enum class Split { train, val, test, all };

inline constexpr std::array kSplits = {Named{Split::train, "train"}, Named{Split::val, "val"}, Named{Split::test, "test"},
                                       Named{Split::all, "all"}};

Split split_from(std::string_view name);   // an unknown one is an Error that lists all
std::string_view to_string(Split split);

}  // namespace spnn
