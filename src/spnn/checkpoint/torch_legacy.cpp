#include <spnn/checkpoint/byte_reader.h>
#include <spnn/checkpoint/torch_file.h>
#include <spnn/core/text.h>

#include <algorithm>
#include <array>

namespace spnn {
namespace {

using Kind = PickleValue::Kind;

// The pickle of 0x1950a86a20f9469cfc6c after its two bytes PROTO.
constexpr std::array<std::uint8_t, 13> magic = {0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9,
                                                0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};
constexpr std::size_t proto = 2;
constexpr std::int64_t protocol_version = 1001;

// Reads the next of the pickles that follow each other.
std::unique_ptr<Pickle> next_pickle(ByteReader& reader, Bytes bytes) {
  auto pickle = std::make_unique<Pickle>(bytes.subspan(reader.position()), reader.where());
  reader.take(pickle->length());
  return pickle;
}

bool is_big_endian(const PickleValue& system, const std::string& where) {
  const auto* little = system.find("little_endian");
  require(little && little->is(Kind::boolean), where, "system information with little_endian",
          system.describe());
  return little->integer == 0;
}

// Storages as the object names them: the file itself does not say their types.
std::map<std::string, StorageRef> named_storages(const Pickle& object, const std::string& where) {
  std::map<std::string, StorageRef> named;
  for (const auto& value : object.values()) {
    if (!value.is(Kind::persistent)) continue;
    const auto ref = storage_from(value, where);
    const auto& known = named.emplace(ref.key, ref).first->second;
    require(known.dtype == ref.dtype && known.numel == ref.numel, where,
            fmt::format("one type and size for storage {}", in_quotes(ref.key)), "two");
  }
  return named;
}

}  // namespace

bool looks_like_torch_legacy(Bytes bytes) {
  return bytes.size() >= proto + magic.size() && bytes[0] == std::byte{0x80} &&
         std::equal(magic.begin(), magic.end(), bytes.begin() + proto,
                    [](std::uint8_t a, std::byte b) { return std::byte{a} == b; });
}

TorchFile open_torch_legacy(Bytes bytes, const std::string& where) {
  require(looks_like_torch_legacy(bytes), where, "a file of torch.save", "another magic number");
  ByteReader reader(bytes, where, proto + magic.size());
  const auto version = next_pickle(reader, bytes);
  require(version->root().is(Kind::integer) && version->root().integer == protocol_version, where,
          fmt::format("protocol {}", protocol_version), version->root().describe());
  const bool big_endian = is_big_endian(next_pickle(reader, bytes)->root(), where);
  auto object = next_pickle(reader, bytes);
  const auto keys = next_pickle(reader, bytes);
  require(keys->root().is(Kind::list), where, "a list of storage keys", keys->root().describe());

  const auto named = named_storages(*object, where);
  std::map<std::string, Bytes> storages;
  for (const auto* key : keys->root().items) {
    const auto ref = key->is(Kind::text) ? named.find(key->text) : named.end();
    require(ref != named.end(), where, "the key of a storage in use", key->describe());
    auto numel = reader.number<std::uint64_t>();
    if (big_endian) numel = __builtin_bswap64(numel);
    require(numel == ref->second.numel, where,
            fmt::format("{} elements in storage {}", ref->second.numel, ref->first),
            fmt::format("{}", numel));
    const auto width = torch::elementSize(ref->second.dtype);
    require(numel <= reader.left() / width, where,
            fmt::format("{} elements in storage {}", numel, ref->first),
            fmt::format("{} bytes", reader.left()), "the file is truncated");
    storages[ref->first] = reader.take(numel * width);
  }
  const auto storage = [storages, where](const StorageRef& ref) {
    const auto found = storages.find(ref.key);
    require(found != storages.end(), where, fmt::format("the storage {}", in_quotes(ref.key)), "none");
    return found->second;
  };
  return {std::move(object), TensorReader(storage, big_endian, bytes.size())};
}

}  // namespace spnn
