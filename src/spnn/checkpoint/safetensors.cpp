#include <spnn/checkpoint/dtype.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/core/io.h>
#include <spnn/core/json_text.h>
#include <spnn/core/shape.h>
#include <spnn/core/text.h>

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace spnn {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data are little-endian");

constexpr std::uint64_t length_prefix = sizeof(std::uint64_t);
constexpr std::uint64_t largest_header =
    16 << 20;                      // thousands of tensors and a long training record fit in 1 MB
constexpr int deepest_header = 3;  // {name: {shape: [n]}}
constexpr std::size_t most_tensor_dimensions = 16;

Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Bytes bytes_of(const Tensor& contiguous) {
  return {static_cast<const std::byte*>(contiguous.data_ptr()), contiguous.nbytes()};
}

// Of the content, not of the layout: another program may reorder the header without breaking it.
class Checksum {
 public:
  void add(Bytes bytes) {
    if (bytes.empty()) return;  // a null pointer would start zlib's sum again
    crc_ = crc32_z(crc_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  }
  void add(std::string_view text) {
    add(bytes_of(text));
    add(bytes_of(std::string_view("\0", 1)));
  }
  std::uint32_t value() const { return static_cast<std::uint32_t>(crc_); }

 private:
  unsigned long crc_ = crc32_z(0, nullptr, 0);
};

std::uint32_t sum_of(const TensorFile& content) {
  Checksum sum;
  for (const auto& [key, value] : content.metadata) {
    if (key == "checksum") continue;
    sum.add(key);
    sum.add(value);
  }
  for (const auto& [name, tensor] : content.tensors) {
    sum.add(name);
    sum.add(fmt::format("{} {}", dtype_name(tensor.scalar_type()), to_string(tensor.sizes())));
    sum.add(bytes_of(tensor));
  }
  return sum.value();
}

std::string checksum_of(const TensorFile& content) { return fmt::format("crc32:{:08x}", sum_of(content)); }

// The tensor as it goes to the file.
Tensor storable(const Tensor& tensor, const std::string& where, const SafetensorsOptions& options) {
  require(tensor.defined() && tensor.layout() == torch::kStrided, where, "a dense tensor", "none");
  const auto plain = tensor.detach().to(torch::kCPU).resolve_conj().resolve_neg();
  require(dtype_name(plain.scalar_type()) != "?", where, "a type that safetensors can hold",
          torch::toString(plain.scalar_type()));
  if (!options.half || !plain.is_floating_point()) return plain.contiguous();
  const auto half = plain.to(torch::kFloat16).contiguous();
  require(torch::isfinite(half).eq(torch::isfinite(plain)).all().item<bool>(), where,
          "values within half precision (65504)", fmt::format("{}", plain.abs().max().item<double>()));
  return half;
}

std::string header_of(const TensorFile& content, const std::string& where) {
  Json header = Json::object();
  if (!content.metadata.empty()) header["__metadata__"] = content.metadata;
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : content.tensors) {
    require(name != "__metadata__", where, "a tensor name", "'__metadata__', which the format reserves");
    header[name] = {{"dtype", dtype_name(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {offset, offset + tensor.nbytes()}}};
    offset += tensor.nbytes();
  }
  try {
    auto text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // data aligned for programs that map the file
    require(text.size() <= largest_header, where, fmt::format("a header of at most {} bytes", largest_header),
            fmt::format("{}", text.size()), "shorten the metadata");
    return text;
  } catch (const Json::exception&) {
    fail(where, "names and metadata in UTF-8", "other bytes");
  }
}

struct TensorEntry {
  std::string name;
  torch::ScalarType dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin, end;
};

bool is_natural(const Json& value) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{1} << 62;
}

bool are_naturals(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), is_natural);
}

TensorEntry parse_entry(const std::string& name, const Json& value, const std::string& where) {
  const auto here = fmt::format("{}: tensor {}", where, in_quotes(name));
  require(value.is_object() && value.contains("dtype") && value.contains("shape") &&
              value.contains("data_offsets"),
          here, "an object with dtype, shape and data_offsets", "another JSON value");
  const auto& dtype = value["dtype"];
  const auto& shape = value["shape"];
  const auto& offsets = value["data_offsets"];
  const auto known = dtype.is_string() ? dtype_from_name(dtype.get_ref<const std::string&>()) : std::nullopt;
  require(known.has_value(), here, "a dtype of F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL",
          excerpt(dtype));
  require(are_naturals(shape) && shape.size() <= most_tensor_dimensions, here, "a shape of whole numbers",
          excerpt(shape));
  require(are_naturals(offsets) && offsets.size() == 2, here, "two data_offsets",
          excerpt(offsets));
  return {name, *known, shape.get<std::vector<std::int64_t>>(), offsets[0].get<std::uint64_t>(),
          offsets[1].get<std::uint64_t>()};
}

Json parse_header(Bytes header, const std::string& where) {
  const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
  auto parsed = parse_json(text, where, {.depth = deepest_header});
  require(parsed.is_object(), where, "a JSON object as header", parsed.type_name());
  return parsed;
}

std::map<std::string, std::string> parse_metadata(const Json& value, const std::string& where) {
  require(value.is_object(), where, "__metadata__ as an object", value.type_name());
  std::map<std::string, std::string> metadata;
  for (const auto& [key, text] : value.items()) {
    require(text.is_string(), where, fmt::format("metadata {} as text", in_quotes(key)), text.type_name());
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

// The format's own rule, which also bounds what a file can make us allocate: entries tile the data without
// gap or overlap.
void require_tiling(std::vector<TensorEntry>& entries, std::uint64_t size, const std::string& where) {
  std::sort(entries.begin(), entries.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t offset = 0;
  for (const auto& entry : entries) {
    const auto here = fmt::format("{}: tensor {}", where, in_quotes(entry.name));
    require(entry.begin == offset && entry.end >= entry.begin, here, fmt::format("data from byte {}", offset),
            fmt::format("{} to {}", entry.begin, entry.end));
    require(entry.end <= size, here, fmt::format("data up to byte {}", entry.end),
            fmt::format("a file that ends at {}", size), "the file is truncated");
    const auto bytes = byte_count(entry.shape, entry.dtype);
    require(bytes == entry.end - entry.begin, here,
            fmt::format("the bytes of {} {}", to_string(entry.shape), dtype_name(entry.dtype)),
            fmt::format("{}", entry.end - entry.begin));
    offset = entry.end;
  }
  require(offset == size, where, fmt::format("{} bytes of data", offset), fmt::format("{}", size));
}

std::uint64_t header_length(Bytes bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_prefix);
  return length;
}

}  // namespace

std::uint32_t fingerprint(const TensorFile& content) {
  TensorFile stored{{}, content.metadata};
  for (const auto& [name, tensor] : content.tensors) stored.tensors[name] = storable(tensor, name, {});
  return sum_of(stored);
}

bool looks_like_safetensors(Bytes bytes) {
  return bytes.size() > length_prefix && bytes[length_prefix] == std::byte{'{'};
}

void write_safetensors(const std::filesystem::path& file, const TensorFile& content,
                       SafetensorsOptions options) {
  TensorFile stored{{}, content.metadata};
  for (const auto& [name, tensor] : content.tensors)
    stored.tensors[name] = storable(tensor, fmt::format("{}: tensor '{}'", file.string(), name), options);
  stored.metadata["checksum"] = checksum_of(stored);
  const auto header = header_of(stored, file.string());
  const std::uint64_t length = header.size();

  OutputFile out(file);
  out.write(std::as_bytes(std::span(&length, 1)));
  out.write(bytes_of(header));
  for (const auto& [name, tensor] : stored.tensors) out.write(bytes_of(tensor));
  out.commit();
}

TensorFile read_safetensors(const std::filesystem::path& file) {
  return naming_the_file(file.string(), [&] {
    const FileContent content(file);
    return read_safetensors(content.bytes(), file.string());
  });
}

TensorFile read_safetensors(Bytes bytes, const std::string& where) {
  require(bytes.size() >= length_prefix, where, "a safetensors file", fmt::format("{} bytes", bytes.size()));
  const auto length = header_length(bytes);
  require(length <= largest_header, where, fmt::format("a header of at most {} bytes", largest_header),
          fmt::format("{}", length));
  require(length <= bytes.size() - length_prefix, where, fmt::format("a header of {} bytes", length),
          fmt::format("a file of {}", bytes.size()), "the file is truncated");
  const auto data = bytes.subspan(length_prefix + length);

  TensorFile content;
  std::vector<TensorEntry> entries;
  {
    const auto header = parse_header(bytes.subspan(length_prefix, length), where);
    for (const auto& [name, value] : header.items()) {
      if (name == "__metadata__")
        content.metadata = parse_metadata(value, where);
      else
        entries.push_back(parse_entry(name, value, where));
    }
  }
  require_tiling(entries, data.size(), where);
  for (const auto& entry : entries) {
    content.tensors[entry.name] =
        tensor_from(data.subspan(entry.begin, entry.end - entry.begin), entry.shape, entry.dtype);
  }
  if (const auto stated = content.metadata.find("checksum"); stated != content.metadata.end()) {
    const auto found = checksum_of(content);
    require(found == stated->second, where, "the checksum " + shortened(stated->second, 40), found,
            "the file is damaged");
  }
  return content;
}

}  // namespace spnn
