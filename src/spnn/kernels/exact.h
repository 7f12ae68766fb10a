#pragma once

namespace spnn {

// As long as one lives, the kernels on this thread (conv3x3, group_norm, …) leave the work to torch's own operators:
// the path to compare with.
class ScopedExactKernels {
 public:
  explicit ScopedExactKernels(bool exact = true);
  ~ScopedExactKernels();
  ScopedExactKernels(const ScopedExactKernels&) = delete;
  ScopedExactKernels& operator=(const ScopedExactKernels&) = delete;

 private:
  bool before_;
};

bool exact_kernels();

}  // namespace spnn
