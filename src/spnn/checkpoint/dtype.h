#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace spnn {

// The element types that files hold, under safetensors' names ("F32", "I64", "BOOL", …).
std::string_view dtype_name(torch::ScalarType dtype);  // "?" for one that we do not store
std::optional<torch::ScalarType> dtype_from_name(std::string_view name);

// Products and sums of sizes read from a file: nothing when they overflow or are negative.
std::optional<std::uint64_t> element_count(torch::IntArrayRef shape);
std::optional<std::uint64_t> byte_count(torch::IntArrayRef shape, torch::ScalarType dtype);

}  // namespace spnn
