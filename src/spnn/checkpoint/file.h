#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace spnn {

using Bytes = std::span<const std::byte>;

// A file mapped for reading: nothing is allocated until a reader knows what it wants.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

// Writes beside `file`; commit() flushes to the disk and renames, so that a reader (also one after a power
// failure) sees the old or the new content, never half of it. Without a commit the old file stays and the new
// one is removed.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path file);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(Bytes bytes);
  void commit();

 private:
  [[noreturn]] void failed(const char* doing);

  std::filesystem::path file_, beside_;
  int descriptor_ = -1;
};

}  // namespace spnn
