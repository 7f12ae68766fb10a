#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace spnn::kernels {

// A buffer that grows and is never shrunk: fresh pages would cost more than the arithmetic done in them. Make it
// thread_local where it is used.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(data_); }

  // ensures: at least `count` floats, aligned to a cache line, of unspecified values.
  float* floats(std::int64_t count) {
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(float) + 63) / 64 * 64;
    if (bytes > bytes_) {
      std::free(data_);
      bytes_ = 0;
      data_ = std::aligned_alloc(64, bytes);
      if (data_ == nullptr) throw std::bad_alloc();
      bytes_ = bytes;
    }
    return static_cast<float*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace spnn::kernels
