#pragma once

#include <spnn/operators/linear_operator.h>

namespace spnn {

struct HadamardConfig {
  Shape in;
  double keep = 0.25;          // share of the coefficients that are measured
  std::uint64_t seed = 0;      // of the permutation and of which rows are kept: part of the operator, not of a run
};

// Compressed sensing with a Walsh–Hadamard transform: the pixels of every channel are shuffled, transformed in n log n
// additions, and a share of the coefficients is kept (the mean always). Rows are orthonormal, so A† = Aᵀ.
class HadamardOperator final : public LinearOperator {
 public:
  explicit HadamardOperator(const HadamardConfig& config);

  Tensor Vt(const Tensor& x) const override;
  Tensor V(const Tensor& v) const override;
  Tensor Ut(const Tensor& y) const override;
  Tensor U(const Tensor& u) const override;
  Shape in_shape() const override { return in_; }
  Shape out_shape() const override { return {in_.channels * kept_.numel(), 1, 1}; }

 private:
  Shape in_;
  Tensor shuffle_, unshuffle_, kept_;   // indices of pixels, and of coefficients
};

// The orthonormal Walsh–Hadamard transform over the last dimension, whose size is a power of two. Its own inverse.
Tensor walsh_hadamard(const Tensor& x);

}  // namespace spnn
