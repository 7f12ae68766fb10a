#pragma once

#include <spnn/core/io.h>

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

// A tensor of this shape with a copy of the bytes, which must be exactly its own. Any byte but 0 is a true
// BOOL.
torch::Tensor tensor_from(Bytes bytes, torch::IntArrayRef shape, torch::ScalarType dtype);

}  // namespace spnn
