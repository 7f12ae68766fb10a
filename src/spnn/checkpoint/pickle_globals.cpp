#include <spnn/checkpoint/pickle_globals.h>

#include <algorithm>
#include <array>
#include <utility>

namespace spnn {
namespace {

constexpr std::array<std::pair<std::string_view, torch::ScalarType>, 10> storages = {{
    {"torch.DoubleStorage", torch::kFloat64},
    {"torch.FloatStorage", torch::kFloat32},
    {"torch.HalfStorage", torch::kFloat16},
    {"torch.BFloat16Storage", torch::kBFloat16},
    {"torch.LongStorage", torch::kInt64},
    {"torch.IntStorage", torch::kInt32},
    {"torch.ShortStorage", torch::kInt16},
    {"torch.CharStorage", torch::kInt8},
    {"torch.ByteStorage", torch::kUInt8},
    {"torch.BoolStorage", torch::kBool},
}};

constexpr std::array<std::string_view, 14> dtypes = {
    "torch.float64", "torch.double",   "torch.float32", "torch.float", "torch.float16",
    "torch.half",    "torch.bfloat16", "torch.int64",   "torch.long",  "torch.int32",
    "torch.int16",   "torch.int8",     "torch.uint8",   "torch.bool",
};

constexpr std::array<std::string_view, 5> functions = {
    pickle_globals::ordered_dict,      pickle_globals::size,
    pickle_globals::rebuild_tensor,    pickle_globals::rebuild_tensor_v2,
    pickle_globals::rebuild_parameter,
};

}  // namespace

std::optional<torch::ScalarType> storage_dtype(std::string_view name) {
  for (const auto& [known, dtype] : storages)
    if (known == name) return dtype;
  return std::nullopt;
}

bool is_allowed_global(std::string_view name) {
  return std::find(functions.begin(), functions.end(), name) != functions.end() ||
         std::find(dtypes.begin(), dtypes.end(), name) != dtypes.end() || storage_dtype(name).has_value();
}

}  // namespace spnn
