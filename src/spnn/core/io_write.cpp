#include <spnn/core/errors.h>
#include <spnn/core/io.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <utility>

namespace spnn {
namespace {

constexpr std::string_view kBesidePrefix = ".spnn-", kBesideSuffix = ".part";
constexpr int kAttempts = 16;
constexpr std::time_t kAbandonedAfter = 10;   // seconds: a writer that cannot lock before it has a name gets this long

std::filesystem::path folder_of_file(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

std::filesystem::path unguessable_name_in(const std::filesystem::path& folder) {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<std::uint64_t>(getpid());
  return folder / fmt::format("{}{:016x}{}", kBesidePrefix, number, kBesideSuffix);
}

// The entry of a rename reaches the disk with its folder.
void flush_folder(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

// What a killed process left: a file with our kind of name that nobody holds. Writers hold theirs.
void remove_if_abandoned(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat status {};
  const bool old = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                   status.st_mtim.tv_sec + kAbandonedAfter < std::time(nullptr);
  if (old && flock(descriptor, LOCK_EX | LOCK_NB) == 0) unlink(file.c_str());
  close(descriptor);
}

// Once a folder and process: a folder of thousands of images is not listed again for each.
void remove_abandoned_in(const std::filesystem::path& folder) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  {
    const std::lock_guard lock(mutex);
    if (!seen.insert(folder.string()).second) return;
  }
  DIR* entries = opendir(folder.c_str());
  if (!entries) return;
  while (const auto* entry = readdir(entries)) {
    const std::string_view name(entry->d_name);
    if (name.starts_with(kBesidePrefix) && name.ends_with(kBesideSuffix)) remove_if_abandoned(folder / name);
  }
  closedir(entries);
}

// False with errno set on failure.
bool write_whole(int descriptor, Bytes bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

int fsync_whole(int descriptor) {
  int status = 0;
  do status = fsync(descriptor);
  while (status != 0 && errno == EINTR);
  return status;
}

Bytes bytes_of_text(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

}  // namespace

OutputFile::OutputFile(std::filesystem::path file) : file_(std::move(file)) {
  struct stat status {};
  const bool there = stat(file_.c_str(), &status) == 0;
  if (there && S_ISDIR(status.st_mode)) fail(file_.string(), "a file to write", "a directory");
  if (there && !S_ISREG(status.st_mode)) {
    replaces_ = false;
    descriptor_ = open(file_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);   // no reader of a FIFO: an error
    if (descriptor_ < 0) failed("opening it");
    fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
    return;
  }
  if (there) {
    if (faccessat(AT_FDCWD, file_.c_str(), W_OK, AT_EACCESS) != 0) failed("opening it");
    std::error_code unresolved;   // /dev/stdout, or a link that the user made: what it points to is replaced
    if (auto real = std::filesystem::canonical(file_, unresolved); !unresolved) file_ = std::move(real);
  }
  remove_abandoned_in(folder_of_file(file_));
  open_beside(there ? status.st_mode & 07777U : 0666U);
  if (there && fchmod(descriptor_, status.st_mode & 07777U) != 0) {
    const int reason = errno;
    drop();
    errno = reason;
    failed("setting its mode");
  }
}

void OutputFile::open_beside(unsigned mode) {
  const auto folder = folder_of_file(file_);
  descriptor_ = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  for (int attempt = 0; descriptor_ < 0 && attempt < kAttempts; ++attempt) {   // a file system without O_TMPFILE
    beside_ = unguessable_name_in(folder);
    descriptor_ = open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    beside_.clear();
    failed("creating a file beside it");
  }
  flock(descriptor_, LOCK_EX | LOCK_NB);
}

OutputFile::~OutputFile() { drop(); }

void OutputFile::drop() noexcept {
  if (descriptor_ < 0) return;
  if (!beside_.empty()) unlink(beside_.c_str());
  close(descriptor_);
  descriptor_ = -1;
}

void OutputFile::write(Bytes bytes) {
  if (!write_whole(descriptor_, bytes)) failed("writing");
}

void OutputFile::give_name() {
  const auto unnamed = fmt::format("/proc/self/fd/{}", descriptor_);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto name = unguessable_name_in(folder_of_file(file_));
    if (linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      beside_ = std::move(name);
      return;
    }
    if (errno != EEXIST) break;
  }
  failed("naming the file");
}

void OutputFile::commit() {
  if (!replaces_) {
    const int descriptor = std::exchange(descriptor_, -1);
    if (close(descriptor) != 0 && errno != EINTR) failed("closing it");
    return;
  }
  if (fsync_whole(descriptor_) != 0) failed("bringing it to the disk");
  if (beside_.empty()) give_name();
  if (std::rename(beside_.c_str(), file_.c_str()) != 0) failed("renaming");
  close(std::exchange(descriptor_, -1));
  flush_folder(folder_of_file(file_));
}

void OutputFile::failed(const char* doing) {
  const std::string why = std::strerror(errno);
  fail(file_.string(), "a writable place", fmt::format("'{}' when {}", why, doing));
}

void write_atomically(const std::filesystem::path& file, Bytes bytes) {
  OutputFile out(file);
  out.write(bytes);
  out.commit();
}

void write_atomically(const std::filesystem::path& file, std::string_view text) {
  write_atomically(file, bytes_of_text(text));
}

void require_writable(const std::filesystem::path& file) {
  std::error_code unknown;
  const auto status = std::filesystem::status(file, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) && !std::filesystem::is_directory(status))
    return;   // opening a pipe would be seen at its other end
  const OutputFile tried(file);
}

void append_to_file(const std::filesystem::path& file, std::string_view text) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  const auto failed = [&](const char* doing) {
    fail(file.string(), "a writable place", fmt::format("'{}' when {}", std::strerror(errno), doing));
  };
  if (descriptor < 0) failed("opening it");
  struct stat status {};
  const bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const bool done = regular && write_whole(descriptor, bytes_of_text(text)) && fdatasync(descriptor) == 0;
  const int reason = regular ? errno : EINVAL;
  if (!done && regular && ftruncate(descriptor, status.st_size) != 0) {
    // The row stays half; whoever resumes drops rows that are not whole.
  }
  close(descriptor);
  errno = reason;
  if (!done) failed("adding to it");
}

void keep_as(const std::filesystem::path& file, const std::filesystem::path& copy) {
  std::string why;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {   // another process may take the name for abandoned
    const auto name = unguessable_name_in(folder_of_file(copy));
    const bool linked = link(file.c_str(), name.c_str()) == 0;
    const bool renamed = linked && std::rename(name.c_str(), copy.c_str()) == 0;
    why = std::strerror(errno);
    if (linked) unlink(name.c_str());   // when both were names of one file, rename did nothing and left both
    if (renamed) return;
    if (!linked) break;
  }
  fail(copy.string(), fmt::format("a second name of {}", file.filename().string()), "'" + why + "'");
}

FileLock::FileLock(const std::filesystem::path& file, std::string_view where, std::string_view expected) {
  descriptor_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  require(descriptor_ >= 0, file.string(), "a lock file", descriptor_ < 0 ? std::strerror(errno) : "");
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      const std::string why = std::strerror(errno);
      close(descriptor_);
      fail(file.string(), "a file system that can lock", "'" + why + "'");
    }
    char owner[32] = {};
    const auto length = pread(descriptor_, owner, sizeof owner - 1, 0);
    close(descriptor_);
    fail(where, expected, length > 0 ? fmt::format("process {} at work in it", owner) : "another process at work in it");
  }
  const auto number = std::to_string(getpid());
  const bool said = ftruncate(descriptor_, 0) == 0 &&
                    pwrite(descriptor_, number.data(), number.size(), 0) == static_cast<ssize_t>(number.size());
  static_cast<void>(said);   // only for the message above
}

FileLock::~FileLock() { close(descriptor_); }

bool lock_is_held(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool held = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  return held;
}

}  // namespace spnn
