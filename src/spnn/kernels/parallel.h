#pragma once

#include <ATen/Parallel.h>

#include <atomic>
#include <cstdint>

namespace spnn::kernels {

// Calls body(i) for every i in [0, count) on torch's threads, each thread taking the next free i. Which thread takes
// which i is not fixed (a busy machine would otherwise wait for its slowest core), so bodies must write disjoint results.
template <class Body>
void parallel_each(std::int64_t count, const Body& body) {
  if (count <= 0) return;
  const std::int64_t threads = std::min<std::int64_t>(at::get_num_threads(), count);
  if (threads <= 1 || at::in_parallel_region()) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<std::int64_t> next{0};
  at::parallel_for(0, threads, 1, [&](std::int64_t, std::int64_t) {
    for (std::int64_t i = next++; i < count; i = next++) body(i);
  });
}

}  // namespace spnn::kernels
