#include <spnn/checkpoint/byte_reader.h>
#include <spnn/checkpoint/dtype.h>
#include <spnn/checkpoint/pickle_globals.h>
#include <spnn/checkpoint/torch_tensors.h>
#include <spnn/core/shape.h>
#include <spnn/core/text.h>

#include <algorithm>

namespace spnn {
namespace {

using Kind = PickleValue::Kind;
using Sizes = std::vector<std::int64_t>;

constexpr std::size_t most_dimensions = 16;
constexpr int most_wrappers = 4;                       // Parameter(Parameter(…
constexpr std::uint64_t sharing = 4, slack = 1 << 20;  // tied weights are stored once and read several times

bool is_rebuild_tensor(const PickleValue& value) {
  return value.is(Kind::call) &&
         (value.text == pickle_globals::rebuild_tensor_v2 || value.text == pickle_globals::rebuild_tensor);
}

// The tensor inside a parameter; null if there is none.
const PickleValue* unwrap(const PickleValue& value) {
  const auto* inside = &value;
  for (int i = 0; i < most_wrappers; ++i) {
    if (!inside->is(Kind::call) || inside->text != pickle_globals::rebuild_parameter || inside->items.empty())
      break;
    inside = inside->items[0];
  }
  return is_rebuild_tensor(*inside) ? inside : nullptr;
}

std::uint64_t natural(const PickleValue& value, const std::string& where) {
  require(value.is(Kind::integer) && value.integer >= 0, where, "a whole number", value.describe());
  return static_cast<std::uint64_t>(value.integer);
}

Sizes sizes_from(const PickleValue& value, const std::string& where) {
  require(value.is_sequence() && value.items.size() <= most_dimensions, where, "a size", value.describe());
  Sizes sizes;
  for (const auto* item : value.items) sizes.push_back(static_cast<std::int64_t>(natural(*item, where)));
  return sizes;
}

// One past the last element that the strides reach; nothing on overflow.
std::optional<std::uint64_t> extent(const Sizes& size, const Sizes& stride) {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < size.size(); ++i) {
    std::uint64_t step = 0;
    if (__builtin_mul_overflow(std::uint64_t(size[i] - 1), std::uint64_t(stride[i]), &step))
      return std::nullopt;
    if (__builtin_add_overflow(last, step, &last)) return std::nullopt;
  }
  return last + 1;
}

void swap_bytes(Tensor& flat) {
  const auto width = static_cast<std::size_t>(flat.element_size());
  const std::span<std::byte> bytes(static_cast<std::byte*>(flat.data_ptr()), flat.nbytes());
  for (std::size_t at = 0; at < bytes.size(); at += width) std::ranges::reverse(bytes.subspan(at, width));
}

}  // namespace

StorageRef storage_from(const PickleValue& persistent, const std::string& where) {
  const auto& items = persistent.items;
  const bool shaped = persistent.is(Kind::persistent) && (items.size() == 5 || items.size() == 6) &&
                      items[0]->is(Kind::text) && items[0]->text == "storage" && items[1]->is(Kind::global) &&
                      items[2]->is(Kind::text);
  require(shaped, where, "a storage", persistent.describe());
  const auto dtype = storage_dtype(items[1]->text);
  require(dtype.has_value(), where, "a storage type", in_quotes(items[1]->text));
  StorageRef ref{items[2]->text, *dtype, natural(*items[4], where)};
  ref.view_numel = ref.numel;
  if (items.size() == 6 && !items[5]->is(Kind::none)) {
    const auto& view = items[5]->items;
    require(items[5]->is_sequence() && view.size() == 3, where, "a view of a storage", items[5]->describe());
    ref.view_begin = natural(*view[1], where);
    ref.view_numel = natural(*view[2], where);
  }
  require(ref.view_begin <= ref.numel && ref.view_numel <= ref.numel - ref.view_begin, where,
          fmt::format("a view inside a storage of {}", ref.numel),
          fmt::format("{} from {}", ref.view_numel, ref.view_begin));
  return ref;
}

bool is_tensor(const PickleValue& value) {
  return unwrap(value) != nullptr;
}

TensorReader::TensorReader(Storages storages, bool big_endian, std::uint64_t file_size)
    : storages_(std::move(storages)), big_endian_(big_endian), budget_(sharing * file_size + slack) {}

Tensor TensorReader::read(const PickleValue& value, const std::string& where) {
  const auto* tensor = unwrap(value);
  require(tensor && tensor->items.size() >= 4, where, "a tensor", value.describe());
  const auto ref = storage_from(*tensor->items[0], where);
  const auto offset = natural(*tensor->items[1], where);
  const auto size = sizes_from(*tensor->items[2], where);
  const auto stride = sizes_from(*tensor->items[3], where);
  const auto count = element_count(size);
  require(count && size.size() == stride.size(), where, "a size with strides",
          fmt::format("{} with {}", to_string(size), to_string(stride)));
  if (*count == 0) return torch::empty(size, torch::dtype(ref.dtype));

  const auto reach = extent(size, stride);
  require(reach && offset <= ref.view_numel && *reach <= ref.view_numel - offset && *count <= ref.view_numel,
          where, fmt::format("a tensor inside its storage of {}", ref.view_numel),
          fmt::format("size {}, stride {} from {}", to_string(size), to_string(stride), offset));
  const auto width = torch::elementSize(ref.dtype);
  const auto bytes = storages_(ref);
  require(ref.numel <= bytes.size() / width, where, fmt::format("a storage of {} elements", ref.numel),
          fmt::format("{} bytes", bytes.size()), "the file is truncated or damaged");
  const auto cost = std::max(*reach, *count) * width;   // with strides of 0 a tensor is larger than what it reaches
  require(cost <= budget_, where, "tensors that the file can hold", "more data than it has");
  budget_ -= cost;

  auto flat = tensor_from(bytes.subspan((ref.view_begin + offset) * width, *reach * width),
                          {static_cast<std::int64_t>(*reach)}, ref.dtype);
  if (big_endian_) swap_bytes(flat);
  return flat.as_strided(size, stride).contiguous();
}

}  // namespace spnn
