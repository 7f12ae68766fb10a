#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

// The one place where files are opened. Errors name the file and say why.

namespace spnn {

using Bytes = std::span<const std::byte>;

// A regular file, read by position from any thread. Directories, devices and FIFOs are refused without waiting for them.
// Nothing is mapped: a file that shrinks meanwhile gives an Error, never a signal.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& file);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }              // when it was opened
  // ensures: fills all of `into` with the bytes from `offset` on, or throws.
  void read(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

inline constexpr std::uint64_t any_size = ~std::uint64_t{0};

// A regular file, whole. Larger than `most` bytes: refused before its memory is asked for.
class FileContent {
 public:
  explicit FileContent(const std::filesystem::path& file, std::uint64_t most = any_size);
  ~FileContent();
  FileContent(const FileContent&) = delete;
  FileContent& operator=(const FileContent&) = delete;

  Bytes bytes() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// The same as text; read_text of core/config.h takes the largest.
inline constexpr std::uint64_t largest_text = std::uint64_t{1} << 30;
std::string read_text(const std::filesystem::path& file, std::uint64_t most);

// The one writer. It writes beside `file` under a name that cannot be guessed or, where the file system can, under none;
// commit() brings it to the disk and renames, so that a reader, also one after a power failure, sees the old or the new
// content, never half of it. Without a commit the old file stays and nothing is left beside it. An existing file keeps its
// mode, a link stays a link; devices, FIFOs and sockets are written to and never replaced.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path file);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(Bytes bytes);
  void commit();

 private:
  void open_beside(unsigned mode);
  void give_name();
  void drop() noexcept;
  [[noreturn]] void failed(const char* doing);

  std::filesystem::path file_, beside_;   // beside_ is empty while the file has no name
  int descriptor_ = -1;
  bool replaces_ = true;                  // false: a device or FIFO
};

void write_atomically(const std::filesystem::path& file, Bytes bytes);
void write_atomically(const std::filesystem::path& file, std::string_view text);

// Throws what a write to `file` would throw, before the work that it is for. Leaves nothing behind.
void require_writable(const std::filesystem::path& file);

// Adds `text` at the end in one write, on the disk when it returns. If that fails the file is as it was.
void append_to_file(const std::filesystem::path& file, std::string_view text);

// Makes `copy` a second name of `file` in one step, whatever `copy` was. Both must lie in one folder.
void keep_as(const std::filesystem::path& file, const std::filesystem::path& copy);

// Held by one process at a time, given back when it ends, however it ends. The lock file itself stays.
class FileLock {
 public:
  // Throws Error(where: expected `expected`, got another process …) if it is held.
  FileLock(const std::filesystem::path& file, std::string_view where, std::string_view expected);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

// Whether a process holds the FileLock of `file`. False where there is no such file.
bool lock_is_held(const std::filesystem::path& file);

}  // namespace spnn
