#pragma once

#include <torch/types.h>

#include <optional>
#include <string>

namespace spnn {

// The globals that a checkpoint of tensors needs. Everything else in a pickle is refused.
namespace pickle_globals {
inline constexpr std::string_view ordered_dict = "collections.OrderedDict";
inline constexpr std::string_view size = "torch.Size";
inline constexpr std::string_view rebuild_tensor = "torch._utils._rebuild_tensor";  // before PyTorch 0.4
inline constexpr std::string_view rebuild_tensor_v2 = "torch._utils._rebuild_tensor_v2";
inline constexpr std::string_view rebuild_parameter = "torch._utils._rebuild_parameter";
}  // namespace pickle_globals

bool is_allowed_global(std::string_view name);

// The element type of "torch.FloatStorage" and its like.
std::optional<torch::ScalarType> storage_dtype(std::string_view name);

}  // namespace spnn
