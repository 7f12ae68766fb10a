#include <spnn/checkpoint/file.h>
#include <spnn/core/errors.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace spnn {
namespace {

// The directory entry of a rename reaches the disk with the directory.
void flush_directory(const std::filesystem::path& directory) {
  const int descriptor =
      open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  require(descriptor >= 0, file.string(), "a readable file",
          errno == ENOENT ? "nothing there" : std::strerror(errno));
  struct stat status {};
  const bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const auto size = regular ? static_cast<std::size_t>(status.st_size) : 0;
  void* start = size > 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : nullptr;
  close(descriptor);
  require(regular, file.string(), "a file", "a directory or device");
  require(start != MAP_FAILED, file.string(), "a readable file", "one that cannot be mapped");
  bytes_ = {static_cast<const std::byte*>(start), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

AtomicFile::AtomicFile(std::filesystem::path file) : file_(std::move(file)) {
  static std::atomic<int> count = 0;  // two threads may write the same file
  beside_ = fmt::format("{}.{}-{}.part", file_.string(), getpid(), count++);
  descriptor_ = open(beside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) failed("creating a file");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(beside_.c_str());
}

void AtomicFile::write(Bytes bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) failed("writing");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (fsync(descriptor_) != 0) failed("flushing to the disk");
  if (std::rename(beside_.c_str(), file_.c_str()) != 0) failed("renaming");
  close(descriptor_);
  descriptor_ = -1;
  flush_directory(file_.parent_path());
}

void AtomicFile::failed(const char* doing) {
  fail(file_.string(), "a writable place", fmt::format("'{}' when {}", std::strerror(errno), doing));
}

}  // namespace spnn
