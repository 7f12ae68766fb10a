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

// As long as one lives, convolutions on this thread that gradients flow through multiply in bfloat16 where the CPU has tile registers
// (kernels/bfloat_convolution.h) and sum in float: several times the speed in training. Elsewhere it changes nothing.
class ScopedBfloatProducts {
 public:
  explicit ScopedBfloatProducts(bool on = true);
  ~ScopedBfloatProducts();
  ScopedBfloatProducts(const ScopedBfloatProducts&) = delete;
  ScopedBfloatProducts& operator=(const ScopedBfloatProducts&) = delete;

 private:
  bool before_;
};

bool bfloat_products();

}  // namespace spnn
