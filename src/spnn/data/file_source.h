#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spnn {

// The bytes of one file.
class FileBytes {
 public:
  explicit FileBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  std::span<const std::uint8_t> span() const {
    return {reinterpret_cast<const std::uint8_t*>(bytes_.data()), bytes_.size()};
  }
  std::string_view text() const { return bytes_; }

 private:
  std::string bytes_;
};

// A tree of named files: a folder, or a tar that is never unpacked. Names are relative, with '/'. Reading is
// const and may be done from several threads.
class FileSource {
 public:
  virtual ~FileSource() = default;
  virtual const std::string& name() const = 0;                // as the user gave it, for messages
  virtual const std::vector<std::string>& files() const = 0;  // sorted
  virtual FileBytes read(const std::string& file) const = 0;

  bool has(const std::string& file) const;
  // The file of this name that lies nearest to the root.
  std::optional<std::string> find(std::string_view file_name) const;
};

// A folder, or a tar file (ustar, GNU long names, pax paths). Compressed tars are refused with a hint.
std::unique_ptr<FileSource> open_source(const std::filesystem::path& path);
std::unique_ptr<FileSource> open_tar(const std::filesystem::path& path);

}  // namespace spnn
