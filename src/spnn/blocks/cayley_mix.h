#pragma once

#include <spnn/blocks/orthogonal_mix.h>

namespace spnn {

struct CayleyMixConfig {
  std::int64_t channels = 0;
  double epsilon = 0.0;   // the reference adds 1e-6; I + A is never singular for a real skew A, so we add nothing
};

// A = B − Bᵀ, ((1+ε) I + A) U = I − A. B starts at zero, U at the identity.
class CayleyMix final : public OrthogonalMix {
 public:
  explicit CayleyMix(const CayleyMixConfig& config);

  const Tensor& weights() const override { return B_; }
  Tensor matrix_of(const Tensor& B) const override;

 protected:
  // In a training step at 1×1 spatial size U is not formed: with M = (1+ε)I + A, U = (2+ε)M⁻¹ − I, so one LU and a
  // solve with as many columns as the batch serve U and Uᵀ, and the gradient of B has rank 2·batch.
  Tensor apply(const Tensor& x, bool transposed) const override;
  void forget_shared() const override;

 private:
  bool factorised_pays(const Tensor& x) const;

  double epsilon_;
  Tensor B_;                              // named A_unconstrained, as in public checkpoints
  mutable Tensor shared_lu_, shared_pivots_;
};

}  // namespace spnn
