#include <spnn/core/errors.h>
#include <spnn/core/io.h>
#include <spnn/core/text.h>
#include <spnn/data/file_source.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace spnn {
namespace {

constexpr std::size_t block = 512;

constexpr std::size_t kLongestName = 1 << 16;           // of a member, in a record of its own
constexpr std::size_t kLargestMember = std::size_t{1} << 30;

// The fields of a ustar header, by offset and width.
class Header {
 public:
  explicit Header(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const {
    return std::all_of(bytes_.begin(), bytes_.end(), [](std::uint8_t b) { return b == 0; });
  }
  char type() const { return static_cast<char>(bytes_[156]); }
  std::size_t size() const { return number(124, 12); }

  std::string path() const {
    const std::string name = field(0, 100), prefix = field(257, 5) == "ustar" ? field(345, 155) : "";
    return prefix.empty() ? name : prefix + "/" + name;
  }

  bool checksum_holds() const {
    std::size_t sum = 8 * ' ';  // the field itself counts as blanks
    for (std::size_t i = 0; i < block; ++i) sum += i >= 148 && i < 156 ? 0 : bytes_[i];
    return sum == number(148, 8);
  }

 private:
  std::string field(std::size_t at, std::size_t width) const {
    const auto* text = reinterpret_cast<const char*>(bytes_.data()) + at;
    return {text, strnlen(text, width)};
  }
  // Octal digits, or (GNU, for large files) base 256 behind a set top bit.
  std::size_t number(std::size_t at, std::size_t width) const {
    std::size_t value = 0;
    if (bytes_[at] & 0x80) {
      for (std::size_t i = 1; i < width; ++i) value = value << 8 | bytes_[at + i];
      return value;
    }
    for (const char digit : field(at, width)) {
      if (digit >= '0' && digit <= '7') value = value * 8 + static_cast<std::size_t>(digit - '0');
    }
    return value;
  }

  std::span<const std::uint8_t> bytes_;
};

// A pax record is "LENGTH KEY=VALUE\n"; only the path matters here.
std::string pax_path(std::string_view records) {
  while (!records.empty()) {
    const std::size_t length = std::strtoul(std::string(records.substr(0, 20)).c_str(), nullptr, 10);
    if (length == 0 || length > records.size()) break;
    const auto record = records.substr(0, length - 1);
    const auto space = record.find(' ');
    if (space != record.npos && record.substr(space + 1).starts_with("path="))
      return std::string(record.substr(space + 6));
    records.remove_prefix(length);
  }
  return {};
}

// Members are read by position when they are asked for: the archive may be larger than memory.
class Tar final : public FileSource {
 public:
  explicit Tar(const std::filesystem::path& path) : name_(path.string()), archive_(path) {
    require(archive_.size() > 0, name_, "a tar file", "an empty file");
    const auto start = text_at(0, std::min<std::uint64_t>(archive_.size(), 5));
    const bool compressed = start.starts_with("\x1f\x8b") || start == "\xFD" "7zXZ";
    require(!compressed, name_, "an uncompressed tar", "a compressed file", "unpack it once (gunzip, unxz)");
    index();
    for (const auto& [file, place] : contents_) files_.push_back(file);  // a map: sorted
  }

  const std::string& name() const override { return name_; }
  const std::vector<std::string>& files() const override { return files_; }
  FileBytes read(const std::string& file) const override {
    const auto found = contents_.find(file);
    require(found != contents_.end(), name_, file + " inside", "no such member");
    const auto place = found->second;
    require(place.size <= kLargestMember, fmt::format("{}: {}", name_, file), fmt::format("at most {} bytes", kLargestMember),
            std::to_string(place.size));
    return naming_the_file(name_, [&] { return FileBytes(text_at(place.offset, place.size)); });
  }

 private:
  struct Place {
    std::uint64_t offset, size;
  };

  std::string text_at(std::uint64_t offset, std::uint64_t size) const {
    std::string text(size, '\0');
    archive_.read(offset, std::as_writable_bytes(std::span(text)));
    return text;
  }

  void index() {
    std::string long_name;  // of the member that follows
    for (std::uint64_t at = 0; at + block <= archive_.size();) {
      std::array<std::uint8_t, block> bytes;
      archive_.read(at, std::as_writable_bytes(std::span(bytes)));
      const Header header(bytes);
      if (header.empty()) break;
      require(header.checksum_holds(), fmt::format("{} at byte {}", name_, at), "a tar header",
              "other or damaged content");
      at += block;
      const std::uint64_t size = header.size();
      require(size <= archive_.size() - at, fmt::format("{}: {}", name_, header.path()),
              fmt::format("{} bytes", size), fmt::format("a tar that ends after {}", archive_.size() - at));
      const bool named = header.type() == 'L' || header.type() == 'x';
      require(!named || size <= kLongestName, fmt::format("{} at byte {}", name_, at),
              fmt::format("a name of at most {} bytes", kLongestName), std::to_string(size));
      if (header.type() == 'L') {
        const auto text = text_at(at, size);
        long_name = text.substr(0, text.find('\0'));
      } else if (header.type() == 'x') {
        long_name = pax_path(text_at(at, size));
      } else {
        if (header.type() == '0' || header.type() == '\0')
          add(long_name.empty() ? header.path() : long_name, {at, size});
        long_name.clear();
      }
      at += (size + block - 1) / block * block;
    }
  }

  void add(const std::string& path, Place place) {
    contents_[path.starts_with("./") ? path.substr(2) : path] = place;  // as tar does, the last of equal names counts
  }

  std::string name_;
  InputFile archive_;
  std::map<std::string, Place> contents_;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<FileSource> open_tar(const std::filesystem::path& path) {
  return std::make_unique<Tar>(path);
}

}  // namespace spnn
