#include <spnn/checkpoint/checkpoint.h>
#include <spnn/checkpoint/pickle.h>
#include <spnn/checkpoint/torch_file.h>
#include <spnn/checkpoint/zip.h>

#include <zlib.h>

#include <cstring>
#include <optional>

#include "../fuzz.h"

namespace spnn::fuzz {
namespace {

Bytes bytes_of(View view) { return std::as_bytes(view); }

template <class Number>
std::optional<Number> number_at(const Input& input, std::size_t at) {
  Number value;
  if (at > input.size() || input.size() - at < sizeof value) return std::nullopt;
  std::memcpy(&value, input.data() + at, sizeof value);
  return value;
}

template <class Number>
void put(Input& input, std::size_t at, Number value) {
  if (at <= input.size() && input.size() - at >= sizeof value) std::memcpy(input.data() + at, &value, sizeof value);
}

// The length of the header as it is, and as much data as its last offset says.
void repair_safetensors(Input& input) {
  if (input.size() < 10) return;
  int depth = 0;
  bool quoted = false;
  std::size_t end = 8;
  for (; end < input.size(); ++end) {
    const char c = static_cast<char>(input[end]);
    if (c == '"' && input[end - 1] != '\\') quoted = !quoted;
    if (!quoted && c == '{') ++depth;
    if (!quoted && c == '}' && --depth == 0) break;
  }
  if (end == input.size()) return;
  const std::uint64_t length = end + 1 - 8;
  put(input, 0, length);
  const std::string_view header(reinterpret_cast<const char*>(input.data()) + 8, length);
  std::uint64_t data = 0;
  for (auto at = header.find("data_offsets"); at != header.npos; at = header.find("data_offsets", at + 1)) {
    const auto comma = header.find(',', at);
    if (comma != header.npos) data = std::max<std::uint64_t>(data, std::strtoull(std::string(header.substr(comma + 1, 20)).c_str(), nullptr, 10));
  }
  if (data < 4096) input.resize(8 + length + data);
}

// CRCs of stored entries, in the central directory and in the local headers.
void repair_zip(Input& input) {
  constexpr std::uint32_t central = 0x02014b50;
  for (std::size_t at = 0; at + 46 <= input.size(); ++at) {
    if (number_at<std::uint32_t>(input, at) != central) continue;
    const auto size = number_at<std::uint32_t>(input, at + 20), local = number_at<std::uint32_t>(input, at + 42);
    const auto name = number_at<std::uint16_t>(input, *local + 26), extra = number_at<std::uint16_t>(input, *local + 28);
    if (!name || !extra) continue;
    const auto data = std::size_t{*local} + 30 + *name + *extra;
    if (data > input.size() || *size > input.size() - data) continue;
    const auto sum = static_cast<std::uint32_t>(crc32_z(crc32_z(0, nullptr, 0), input.data() + data, *size));
    put(input, at + 16, sum);
    put(input, *local + 14, sum);
  }
}

}  // namespace

void add_model_targets(std::vector<Target>& all) {
  all.push_back({.name = "safetensors",
                 .read = [](View input) { read_safetensors(bytes_of(input), "fuzz"); },
                 .repair = repair_safetensors,
                 .words = {"\"dtype\":", "\"shape\":", "\"data_offsets\":", "\"__metadata__\":", "F32", "F64", "F16", "BF16", "I64", "U8", "BOOL", "[0,4]", "[]", "{}",
                           "\"checksum\":\"crc32:00000000\"", "[[", "\\u0000", "18446744073709551615", "-1", "1e9"}});
  all.push_back({.name = "zip", .read = [](View input) { ZipArchive(bytes_of(input), "fuzz"); }, .repair = repair_zip,
                 .words = {"PK\x01\x02", "PK\x03\x04", "PK\x05\x06", "PK\x06\x06", "PK\x06\x07", std::string("\x01\x00\x10\x00", 4), std::string("\xff\xff\xff\xff", 4)}});
  const std::vector<std::string> opcodes = {"\x80\x02", "}q\x00", "(", ".", "u", "R", "Q", "t", "]", "e", "ctorch._utils\n_rebuild_tensor_v2\n", "ctorch\nFloatStorage\n",
                                            "ccollections\nOrderedDict\n", "X\x03", "K\x01", "M\xff\xff", "J\xff\xff\xff\x7f", "\x8a\x08", "h\x00", "q\x01", "\x89", "\x88", "\x94", "\x93", "cos\nsystem\n", "0", "2", "1"};
  all.push_back({.name = "pickle", .read = [](View input) { const Pickle read(bytes_of(input), "fuzz"); read.root().describe(); }, .words = opcodes});
  all.push_back({.name = "torch-zip", .read = [](View input) { read_checkpoint(bytes_of(input), "fuzz"); }, .repair = repair_zip, .words = opcodes});
  all.push_back({.name = "torch-legacy",
                 .read = [](View input) { open_torch_legacy(bytes_of(input), "fuzz"); read_checkpoint(bytes_of(input), "fuzz"); },
                 .words = opcodes});
}

}  // namespace spnn::fuzz
