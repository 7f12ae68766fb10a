#include <spnn/checkpoint/byte_reader.h>
#include <spnn/checkpoint/zip.h>
#include <spnn/core/text.h>

#include <zlib.h>

#include <algorithm>

namespace spnn {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::uint32_t entry_signature = 0x02014b50;
constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t end64_signature = 0x06064b50;
constexpr std::uint32_t locator64_signature = 0x07064b50;
constexpr std::size_t end_size = 22, locator64_size = 20, local_size = 30, longest_comment = 65535;
constexpr std::uint32_t in_zip64 = 0xffffffff;

struct Directory {
  std::uint64_t offset, size, entries;
};

struct ZipEntry {
  std::string name;
  std::uint16_t flags, method;
  std::uint32_t crc;
  std::uint64_t stored, size, local;
};

std::uint32_t signature_at(Bytes bytes, std::size_t at) {
  std::uint32_t value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The end record is the last thing in the file but for a comment.
std::size_t find_end(Bytes bytes, const std::string& where) {
  require(bytes.size() >= end_size, where, "a zip archive", fmt::format("{} bytes", bytes.size()));
  const auto last = bytes.size() - end_size;
  const auto first = last > longest_comment ? last - longest_comment : 0;
  for (auto at = last + 1; at-- > first;) {
    if (signature_at(bytes, at) != end_signature) continue;
    std::uint16_t comment;
    std::memcpy(&comment, bytes.data() + at + end_size - sizeof comment, sizeof comment);
    if (at + end_size + comment == bytes.size()) return at;
  }
  fail(where, "the directory of a zip archive at its end", "none", "the file is truncated");
}

Directory read_directory64(Bytes bytes, std::size_t end, const std::string& where) {
  require(end >= locator64_size && signature_at(bytes, end - locator64_size) == locator64_signature, where,
          "a zip64 directory", "none");
  ByteReader locator(bytes, where, end - locator64_size + 8);
  const auto at = locator.number<std::uint64_t>();
  require(at < bytes.size(), where, "a zip64 directory", fmt::format("one at {}, past the end", at));
  ByteReader record(bytes, where, at);
  require(record.number<std::uint32_t>() == end64_signature, where, "a zip64 directory", "other bytes");
  record.take(28);  // size of record, versions, disks, entries on this disk
  const auto entries = record.number<std::uint64_t>();
  const auto size = record.number<std::uint64_t>();
  return {record.number<std::uint64_t>(), size, entries};
}

Directory read_directory(Bytes bytes, const std::string& where) {
  const auto end = find_end(bytes, where);
  ByteReader reader(bytes, where, end + 10);
  const auto entries = reader.number<std::uint16_t>();
  const auto size = reader.number<std::uint32_t>();
  const auto offset = reader.number<std::uint32_t>();
  auto directory = Directory{offset, size, entries};
  if (entries == 0xffff || size == in_zip64 || offset == in_zip64)
    directory = read_directory64(bytes, end, where);
  require(directory.offset <= end && directory.size <= end - directory.offset, where, "a zip directory",
          fmt::format("one of {} bytes at {} in {}", directory.size, directory.offset, bytes.size()));
  return directory;
}

// Sizes that do not fit in 32 bits are in an extra field, in this order, only those that overflow.
void read_extra(ByteReader extra, ZipEntry& entry) {
  while (extra.left() >= 4) {
    const auto kind = extra.number<std::uint16_t>();
    const auto length = extra.number<std::uint16_t>();
    ByteReader field(extra.take(length), extra.where());
    if (kind != 1) continue;
    for (auto* value : {&entry.size, &entry.stored, &entry.local})
      if (*value == in_zip64) *value = field.number<std::uint64_t>();
  }
}

ZipEntry read_entry(ByteReader& reader) {
  require(reader.number<std::uint32_t>() == entry_signature, reader.where(), "an entry of the zip directory",
          "other bytes");
  ZipEntry entry;
  reader.take(4);  // versions
  entry.flags = reader.number<std::uint16_t>();
  entry.method = reader.number<std::uint16_t>();
  reader.take(4);  // time and date
  entry.crc = reader.number<std::uint32_t>();
  entry.stored = reader.number<std::uint32_t>();
  entry.size = reader.number<std::uint32_t>();
  const auto name = reader.number<std::uint16_t>();
  const auto extra = reader.number<std::uint16_t>();
  const auto comment = reader.number<std::uint16_t>();
  reader.take(8);  // disk and attributes
  entry.local = reader.number<std::uint32_t>();
  entry.name = reader.text(name);
  read_extra(ByteReader(reader.take(extra), reader.where()), entry);
  reader.take(comment);
  return entry;
}

Bytes read_content(Bytes bytes, const ZipEntry& entry, const std::string& where) {
  const auto here = fmt::format("{}: entry {}", where, in_quotes(entry.name));
  require(entry.method == 0 && entry.stored == entry.size && (entry.flags & 1) == 0, here,
          "a stored entry, as PyTorch writes it", "a compressed or encrypted one");
  require(entry.local <= bytes.size(), here, "an entry inside the file",
          fmt::format("one at {}", entry.local));
  ByteReader reader(bytes, here, entry.local);
  require(reader.number<std::uint32_t>() == local_signature, here, "a zip entry", "other bytes");
  reader.take(local_size - 8);
  const auto name = reader.number<std::uint16_t>();
  const auto extra = reader.number<std::uint16_t>();
  reader.take(std::uint64_t{name} + extra);
  const auto content = reader.take(entry.size);
  if (entry.crc == 0 || content.empty()) return content;  // PyTorch can be told not to compute it
  const auto crc = crc32_z(0, reinterpret_cast<const unsigned char*>(content.data()), content.size());
  require(crc == entry.crc, here, fmt::format("the CRC {:08x}", entry.crc), fmt::format("{:08x}", crc),
          "the file is damaged");
  return content;
}

}  // namespace

bool looks_like_zip(Bytes bytes) {
  return bytes.size() >= 4 && signature_at(bytes, 0) == local_signature;
}

ZipArchive::ZipArchive(Bytes bytes, const std::string& where) {
  const auto directory = read_directory(bytes, where);
  ByteReader reader(bytes.subspan(directory.offset, directory.size), where + ": zip directory");
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    const auto entry = read_entry(reader);
    // Entries that overlap could make a small file large, and its CRCs slow.
    total += std::min<std::uint64_t>(entry.size, bytes.size());
    require(total <= bytes.size(), where, "entries that do not overlap", "more data than the file has");
    const bool first = entries_.emplace(entry.name, read_content(bytes, entry, where)).second;
    require(first, where, "entry names that differ", in_quotes(entry.name) + " twice");
  }
}

const Bytes* ZipArchive::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace spnn
