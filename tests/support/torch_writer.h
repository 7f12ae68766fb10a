#pragma once

// Writes files as Python's torch.save does, piece by piece, so that tests can also write them wrong.

#include <torch/types.h>
#include <zlib.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace spnn::testing {

template <class T>
std::string little(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::string join(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const auto part : parts) out += part;
  return out;
}

// Opcodes of protocol 2 that leave one value on the stack.
namespace opcodes {
inline std::string text(std::string_view s) {
  return join({"X", little(std::uint32_t(s.size())), s});
}
inline std::string global(std::string_view module, std::string_view name) {
  return join({"c", module, "\n", name, "\n"});
}
inline std::string integer(std::int64_t value) {
  if (value >= 0 && value < 256) return join({"K", little(std::uint8_t(value))});
  if (value >= INT32_MIN && value <= INT32_MAX) return join({"J", little(std::int32_t(value))});
  return join({"\x8a\x08", little(value)});
}
inline std::string boolean(bool value) {
  return value ? "\x88" : "\x89";
}
inline std::string tuple(const std::vector<std::string>& items) {
  std::string out = "(";
  for (const auto& item : items) out += item;
  return out + "t";
}
inline std::string integers(torch::IntArrayRef values) {
  std::vector<std::string> items;
  for (const auto value : values) items.push_back(integer(value));
  return tuple(items);
}
inline std::string list(const std::vector<std::string>& items) {
  std::string out = "](";
  for (const auto& item : items) out += item;
  return out + "e";
}
using Pairs = std::vector<std::pair<std::string, std::string>>;  // text key → opcodes of the value
inline std::string fill(const Pairs& pairs) {
  std::string out = "(";
  for (const auto& [key, value] : pairs) out.append(text(key)).append(value);
  return out + "u";
}
inline std::string dict(const Pairs& pairs) {
  return join({"}", fill(pairs)});
}
inline std::string call(std::string_view module, std::string_view name,
                        const std::vector<std::string>& arguments) {
  return global(module, name).append(tuple(arguments)).append("R");
}
// An OrderedDict with the `_metadata` attribute that module.state_dict() leaves on it.
inline std::string ordered_dict(const Pairs& pairs) {
  const auto version = dict({{"", dict({{"version", integer(1)}})}});
  return call("collections", "OrderedDict", {}) + fill(pairs) + dict({{"_metadata", version}}) + "b";
}
inline std::string whole(const std::string& object) {
  return join({"\x80\x02", object, "."});
}
}  // namespace opcodes

inline std::string storage_class(torch::ScalarType dtype) {
  switch (dtype) {
    case torch::kFloat64: return "DoubleStorage";
    case torch::kFloat16: return "HalfStorage";
    case torch::kBFloat16: return "BFloat16Storage";
    case torch::kInt64: return "LongStorage";
    case torch::kInt32: return "IntStorage";
    case torch::kInt16: return "ShortStorage";
    case torch::kInt8: return "CharStorage";
    case torch::kUInt8: return "ByteStorage";
    case torch::kBool: return "BoolStorage";
    default: return "FloatStorage";
  }
}

struct ZipEntry {
  std::string name, content;
};

struct ZipOptions {
  bool zip64 = false;
  std::uint16_t method = 0;
};

// An archive with its entries aligned to 64 bytes, as PyTorch aligns them.
inline std::string zip_bytes(const std::vector<ZipEntry>& entries, ZipOptions options = {}) {
  constexpr auto u16 = little<std::uint16_t>;
  constexpr auto u32 = little<std::uint32_t>;
  constexpr auto u64 = little<std::uint64_t>;
  std::string out, directory;
  for (const auto& [name, content] : entries) {
    const auto crc =
        std::uint32_t(crc32(0, reinterpret_cast<const Bytef*>(content.data()), uInt(content.size())));
    const auto size = std::uint32_t(content.size());
    const auto local = std::uint32_t(out.size());
    const auto padding = (64 - (out.size() + 34 + name.size()) % 64) % 64;
    const auto common = u16(0) + u16(options.method) + u32(0) + u32(crc);
    out += "PK\3\4" + u16(20) + common + u32(size) + u32(size) + u16(std::uint16_t(name.size())) +
           u16(std::uint16_t(padding + 4)) + name + "FB" + u16(std::uint16_t(padding)) +
           std::string(padding, 'Z') + content;
    const auto extra = options.zip64 ? u16(1) + u16(24) + u64(size) + u64(size) + u64(local) : std::string();
    const auto shown = [&](std::uint32_t value) { return u32(options.zip64 ? 0xffffffff : value); };
    directory += "PK\1\2" + u16(20) + u16(20) + common + shown(size) + shown(size) +
                 u16(std::uint16_t(name.size())) + u16(std::uint16_t(extra.size())) + u16(0) + u64(0) +
                 shown(local) + name + extra;
  }
  const auto offset = out.size();
  const auto count = entries.size();
  out += directory;
  if (options.zip64) {
    const auto end64 = out.size();
    out += "PK\6\6" + u64(44) + u32(0) + u64(0) + u64(count) + u64(count) + u64(directory.size()) +
           u64(offset) + "PK\6\7" + u32(0) + u64(end64) + u32(1);
  }
  const auto shown = [&](std::size_t value) {
    return u32(options.zip64 ? 0xffffffff : std::uint32_t(value));
  };
  return out + "PK\5\6" + u32(0) + u16(std::uint16_t(count)) + u16(std::uint16_t(count)) +
         shown(directory.size()) + shown(offset) + u16(0);
}

// Collects storages while a pickle is put together, then wraps both in a container.
class TorchWriter {
 public:
  enum class Format { zip, legacy };
  explicit TorchWriter(Format format, bool big_endian = false) : format_(format), big_endian_(big_endian) {}

  // The tensor with its own size, strides and offset over its whole storage.
  std::string tensor(const torch::Tensor& t) {
    return rebuild(add_storage(t), t.storage_offset(), t.sizes(), t.strides());
  }
  std::string parameter(const torch::Tensor& t) {
    return opcodes::call(
        "torch._utils", "_rebuild_parameter",
        {tensor(t), opcodes::boolean(true), opcodes::call("collections", "OrderedDict", {})});
  }
  std::string rebuild(const std::string& storage, std::int64_t offset, torch::IntArrayRef size,
                      torch::IntArrayRef stride) {
    return opcodes::call(
        "torch._utils", "_rebuild_tensor_v2",
        {storage, opcodes::integer(offset), opcodes::integers(size), opcodes::integers(stride),
         opcodes::boolean(false), opcodes::call("collections", "OrderedDict", {})});
  }
  // A persistent id; `numel` and `view` as the file states them.
  std::string storage(const std::string& key, torch::ScalarType dtype, std::int64_t numel,
                      std::string view = "N") {
    std::vector<std::string> id = {opcodes::text("storage"), opcodes::global("torch", storage_class(dtype)),
                                   opcodes::text(key), opcodes::text("cpu"), opcodes::integer(numel)};
    if (format_ == Format::legacy) id.push_back(view);
    return opcodes::tuple(id) + "Q";
  }
  std::string add_storage(const torch::Tensor& t) {
    const auto numel = static_cast<std::int64_t>(t.storage().nbytes() / t.element_size());
    const auto key = std::to_string(storages_.size());
    auto bytes = std::string(static_cast<const char*>(t.storage().data()), t.storage().nbytes());
    if (big_endian_) reverse_each(bytes, static_cast<std::size_t>(t.element_size()));
    storages_.push_back({key, numel, bytes});
    return storage(key, t.scalar_type(), numel);
  }

  std::string state(const std::vector<std::pair<std::string, torch::Tensor>>& tensors) {
    opcodes::Pairs pairs;
    for (const auto& [name, t] : tensors) pairs.emplace_back(name, tensor(t));
    return opcodes::ordered_dict(pairs);
  }

  std::string file(const std::string& object) const {
    return format_ == Format::zip ? zip(object) : legacy(object);
  }

  std::string zip(const std::string& object, ZipOptions options = {}) const {
    std::vector<ZipEntry> entries = {{"archive/data.pkl", opcodes::whole(object)}};
    entries.push_back({"archive/byteorder", big_endian_ ? "big" : "little"});
    for (const auto& [key, numel, bytes] : storages_) entries.push_back({"archive/data/" + key, bytes});
    entries.push_back({"archive/version", "3\n"});
    return zip_bytes(entries, options);
  }

  std::string legacy(const std::string& object) const {
    const auto sizes = opcodes::dict({{"short", opcodes::integer(2)}, {"int", opcodes::integer(4)}});
    std::vector<std::string> keys;
    for (const auto& s : storages_) keys.push_back(opcodes::text(s.key));
    std::string out = opcodes::whole("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19");
    out += opcodes::whole(opcodes::integer(1001));
    out += opcodes::whole(opcodes::dict({{"protocol_version", opcodes::integer(1001)},
                                         {"little_endian", opcodes::boolean(!big_endian_)},
                                         {"type_sizes", sizes}}));
    out += opcodes::whole(object) + opcodes::whole(opcodes::list(keys));
    for (const auto& [key, numel, bytes] : storages_) {
      auto length = little(numel);
      if (big_endian_) reverse_each(length, sizeof numel);
      out += length + bytes;
    }
    return out;
  }

 private:
  struct Stored {
    std::string key;
    std::int64_t numel;
    std::string bytes;
  };
  static void reverse_each(std::string& bytes, std::size_t width) {
    for (std::size_t at = 0; at + width <= bytes.size(); at += width)
      std::reverse(bytes.begin() + std::ptrdiff_t(at), bytes.begin() + std::ptrdiff_t(at + width));
  }

  Format format_;
  bool big_endian_;
  std::vector<Stored> storages_;
};

}  // namespace spnn::testing
