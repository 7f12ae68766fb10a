#pragma once

#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/flows/flow_layer.h>

namespace spnn {

// y = Ux over channels with one of the orthogonal mixes of blocks/ (Cayley, Householder): log|det| = 0.
class OrthogonalMixLayer final : public FlowLayer {
 public:
  OrthogonalMixLayer(const Shape& in, std::shared_ptr<OrthogonalMix> mix);

  Observed observe(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;

 private:
  std::shared_ptr<OrthogonalMix> mix_;
};

// Glow's 1×1 convolution y = Wx, W = P L (U + diag(sign ⊙ exp(log_s))): P a fixed permutation, L unit lower, U strictly
// upper triangular. log|det| = H·W·Σ log_s, and W is never singular. Starts as the permutation P of the seed.
class LuMixLayer final : public FlowLayer {
 public:
  LuMixLayer(const Shape& in, const Rng& rng);

  Observed observe(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;
  Tensor matrix() const;   // W

 private:
  Tensor P_, sign_;              // buffers
  Tensor lower_, upper_, log_s_;
};

}  // namespace spnn
