#include <spnn/core/errors.h>
#include <spnn/core/io.h>
#include <spnn/core/text.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace spnn {
namespace {

std::string kind_of_file(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& file) : name_(file.string()) {
  // Without O_NONBLOCK the open of a FIFO waits for somebody to write to it.
  descriptor_ = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  require(descriptor_ >= 0, name_, "a readable file", errno == ENOENT ? "nothing there" : std::strerror(errno));
  struct stat status {};
  const bool known = fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    close(descriptor_);
    fail(name_, "a readable file", known ? kind_of_file(status.st_mode) : std::strerror(errno));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  const auto wanted = offset + into.size();
  while (!into.empty()) {
    const auto count = pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    require(count >= 0, name_, "a readable file", count < 0 ? std::strerror(errno) : "");
    require(count > 0, name_, fmt::format("a file of at least {} bytes", wanted), fmt::format("one that ends at {}", offset),
            "it became shorter while it was read");
    into = into.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

FileContent::FileContent(const std::filesystem::path& file, std::uint64_t most) {
  const InputFile in(file);
  require(in.size() <= most, in.name(), fmt::format("a file of at most {} bytes", most), fmt::format("{}", in.size()));
  size_ = in.size();
  if (size_ == 0) return;
  constexpr std::size_t page = 4096;   // aligned, and untouched until it is read into
  data_ = static_cast<std::byte*>(std::aligned_alloc(page, (size_ + page - 1) / page * page));
  require(data_ != nullptr, in.name(), fmt::format("memory for its {} bytes", size_), "none");
  try {
    in.read(0, {data_, size_});
  } catch (...) {
    std::free(data_);
    throw;
  }
}

FileContent::~FileContent() { std::free(data_); }

std::string read_text(const std::filesystem::path& file, std::uint64_t most) {
  const InputFile in(file);
  require(in.size() <= most, in.name(), fmt::format("a file of at most {} bytes", most), fmt::format("{}", in.size()));
  return naming_the_file(in.name(), [&] {
    std::string text(in.size(), '\0');
    in.read(0, std::as_writable_bytes(std::span(text)));
    return text;
  });
}

}  // namespace spnn
