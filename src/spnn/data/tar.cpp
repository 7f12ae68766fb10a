#include <spnn/core/errors.h>
#include <spnn/data/file_source.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace spnn {
namespace {

constexpr std::size_t block = 512;

// A read-only map: walking the headers and decoding from several threads touch each page once, without
// copies.
class Mapping {
 public:
  explicit Mapping(const std::filesystem::path& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    require(file >= 0, path.string(), "a readable file", std::strerror(errno));
    struct stat status = {};
    fstat(file, &status);
    size_ = static_cast<std::size_t>(status.st_size);
    time_ = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    if (size_ > 0) data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    require(size_ > 0 && data_ != MAP_FAILED, path.string(), "a tar file",
            size_ == 0 ? "an empty file" : "no memory map");
  }
  ~Mapping() {
    if (data_ && data_ != MAP_FAILED) munmap(data_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const std::uint8_t> bytes() const { return {static_cast<const std::uint8_t*>(data_), size_}; }
  std::int64_t time() const { return time_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
  std::int64_t time_ = 0;
};

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

class Tar final : public FileSource {
 public:
  explicit Tar(const std::filesystem::path& path) : name_(path.string()), mapping_(path) {
    const auto bytes = mapping_.bytes();
    const bool compressed = (bytes.size() > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) ||
                            (bytes.size() > 5 && std::memcmp(bytes.data(),
                                                             "\xFD"
                                                             "7zXZ",
                                                             5) == 0);
    require(!compressed, name_, "an uncompressed tar", "a compressed file", "unpack it once (gunzip, unxz)");
    index(bytes);
    for (const auto& [file, content] : contents_) files_.push_back(file);  // a map: sorted
  }

  const std::string& name() const override { return name_; }
  const std::vector<std::string>& files() const override { return files_; }
  Bytes read(const std::string& file) const override {
    const auto found = contents_.find(file);
    require(found != contents_.end(), name_, file + " inside", "no such member");
    return Bytes(found->second);
  }
  std::string fingerprint() const override {
    return fmt::format("tar of {} bytes, modified {}", mapping_.bytes().size(), mapping_.time());
  }

 private:
  void index(std::span<const std::uint8_t> bytes) {
    std::string long_name;  // of the member that follows
    for (std::size_t at = 0; at + block <= bytes.size();) {
      const Header header(bytes.subspan(at, block));
      if (header.empty()) break;
      require(header.checksum_holds(), fmt::format("{} at byte {}", name_, at), "a tar header",
              "other or damaged content");
      at += block;
      const std::size_t size = header.size();
      require(size <= bytes.size() - at, fmt::format("{}: {}", name_, header.path()),
              fmt::format("{} bytes", size), fmt::format("a tar that ends after {}", bytes.size() - at));
      const auto content = bytes.subspan(at, size);
      const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
      if (header.type() == 'L') {
        long_name = text.substr(0, text.find('\0'));
      } else if (header.type() == 'x') {
        long_name = pax_path(text);
      } else {
        if (header.type() == '0' || header.type() == '\0')
          add(long_name.empty() ? header.path() : long_name, content);
        long_name.clear();
      }
      at += (size + block - 1) / block * block;
    }
  }

  void add(const std::string& path, std::span<const std::uint8_t> content) {
    contents_[path.starts_with("./") ? path.substr(2) : path] =
        content;  // as tar does, the last of equal names counts
  }

  std::string name_;
  Mapping mapping_;
  std::map<std::string, std::span<const std::uint8_t>> contents_;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<FileSource> open_tar(const std::filesystem::path& path) {
  return std::make_unique<Tar>(path);
}

}  // namespace spnn
