#include <spnn/checkpoint/dtype.h>
#include <spnn/core/errors.h>
#include <spnn/core/shape.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace spnn {
namespace {

// Shapes without elements cost a file nothing and their readers whatever they say.
constexpr std::int64_t longest_empty_side = 1 << 16;

constexpr std::array<std::pair<std::string_view, torch::ScalarType>, 10> names = {{
    {"F64", torch::kFloat64},
    {"F32", torch::kFloat32},
    {"F16", torch::kFloat16},
    {"BF16", torch::kBFloat16},
    {"I64", torch::kInt64},
    {"I32", torch::kInt32},
    {"I16", torch::kInt16},
    {"I8", torch::kInt8},
    {"U8", torch::kUInt8},
    {"BOOL", torch::kBool},
}};

}  // namespace

std::string_view dtype_name(torch::ScalarType dtype) {
  for (const auto& [name, type] : names)
    if (type == dtype) return name;
  return "?";
}

std::optional<torch::ScalarType> dtype_from_name(std::string_view name) {
  for (const auto& [known, type] : names)
    if (known == name) return type;
  return std::nullopt;
}

std::optional<std::uint64_t> element_count(torch::IntArrayRef shape) {
  constexpr auto most = std::uint64_t{1} << 62;  // torch counts in int64, strides of empty tensors included
  std::uint64_t span = 1;
  bool empty = false;
  for (const auto size : shape) {
    if (size < 0) return std::nullopt;
    empty = empty || size == 0;
    if (__builtin_mul_overflow(span, std::max<std::uint64_t>(size, 1), &span) || span > most)
      return std::nullopt;
  }
  if (empty && std::ranges::any_of(shape, [](auto side) { return side > longest_empty_side; })) return std::nullopt;
  return empty ? 0 : span;
}

std::optional<std::uint64_t> byte_count(torch::IntArrayRef shape, torch::ScalarType dtype) {
  const auto count = element_count(shape);
  std::uint64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, torch::elementSize(dtype), &bytes)) return std::nullopt;
  return bytes;
}

torch::Tensor tensor_from(Bytes bytes, torch::IntArrayRef shape, torch::ScalarType dtype) {
  const bool boolean = dtype == torch::kBool;  // C++ knows only two values of bool
  require(byte_count(shape, dtype) == bytes.size(), "tensor_from", fmt::format("the bytes of {}", to_string(shape)),
          fmt::format("{}", bytes.size()));
  const auto tensor = torch::empty(shape, torch::dtype(boolean ? torch::kUInt8 : dtype));
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  if (boolean && !bytes.empty())   // what else than 0 and 1 is damage that a checksum of the values would not see
    require(tensor.max().item<int>() <= 1, "tensor_from", "booleans of 0 and 1", "other bytes");
  return boolean ? tensor.ne(0) : tensor;
}

}  // namespace spnn
