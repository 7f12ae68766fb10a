#pragma once

// Calls of the system that fail when a test says so. This header defines write, pread, fsync, fdatasync, rename, linkat,
// fchmod and (except under a sanitizer, which has its own) malloc and its relatives for the whole program, libspnn and
// libtorch included: include it in one file of a test program.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace spnn::testing {

struct Fault {
  std::string_view call = {};   // "" fails none
  int at = 0;                   // the so many-th call from now on
  int error = 0;                // errno; -1: a short read or write; EINTR: once, as a signal does it
  bool lasts = true;            // every later call fails too, as on a full disk
  int seen = 0;
};
inline thread_local Fault fault;

inline bool fails_now(std::string_view call) {
  if (fault.call != call) return false;
  ++fault.seen;
  return fault.lasts ? fault.seen >= fault.at : fault.seen == fault.at;
}

}  // namespace spnn::testing

extern "C" {

inline long failed_or(std::string_view call, long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  using spnn::testing::fault;
  if (spnn::testing::fails_now(call)) {
    if (fault.error == -1) return c > 1 ? syscall(number, a, b, c / 2) : syscall(number, a, b, c);
    errno = fault.error;
    return -1;
  }
  return syscall(number, a, b, c, d, e);
}

ssize_t pread(int file, void* data, size_t size, off_t offset) {
  using spnn::testing::fault;
  const bool fails = spnn::testing::fails_now("pread");
  if (fails && fault.error != -1) {
    errno = fault.error;
    return -1;
  }
  return syscall(SYS_pread64, file, data, fails && size > 1 ? size / 2 : size, offset);
}
ssize_t write(int file, const void* data, size_t size) {
  return failed_or("write", SYS_write, file, reinterpret_cast<long>(data), static_cast<long>(size));
}
int fsync(int file) { return static_cast<int>(failed_or("fsync", SYS_fsync, file)); }
int fdatasync(int file) { return static_cast<int>(failed_or("fdatasync", SYS_fdatasync, file)); }
int fchmod(int file, mode_t mode) noexcept { return static_cast<int>(failed_or("fchmod", SYS_fchmod, file, mode)); }
int rename(const char* from, const char* to) noexcept {
  return static_cast<int>(failed_or("rename", SYS_renameat2, AT_FDCWD, reinterpret_cast<long>(from), AT_FDCWD, reinterpret_cast<long>(to), 0));
}
int linkat(int folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  return static_cast<int>(failed_or("linkat", SYS_linkat, folder, reinterpret_cast<long>(from), to_folder, reinterpret_cast<long>(to), flags));
}
}

#ifndef __SANITIZE_ADDRESS__
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* data, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

inline bool no_memory() {
  if (!spnn::testing::fails_now("malloc")) return false;
  errno = ENOMEM;
  return true;
}

void* malloc(size_t size) { return no_memory() ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return no_memory() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* data, size_t size) { return no_memory() ? nullptr : __libc_realloc(data, size); }
void* aligned_alloc(size_t alignment, size_t size) { return no_memory() ? nullptr : __libc_memalign(alignment, size); }
int posix_memalign(void** data, size_t alignment, size_t size) {
  if (no_memory()) return ENOMEM;
  *data = __libc_memalign(alignment, size);
  return *data != nullptr ? 0 : ENOMEM;
}
}
#endif
