#pragma once

// Calls of the system that fail when a test says so. This header defines write, fsync, fdatasync, rename, linkat and
// fchmod for the whole program, libspnn included: include it in one file of a test program.

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
  int error = 0;                // errno; -1: a short write; EINTR: once, as a signal does it
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
