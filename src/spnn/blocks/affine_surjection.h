#pragma once

#include <spnn/blocks/block.h>
#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/blocks/scale_shift.h>

namespace spnn {

struct AffineSurjectionConfig {
  Shape in;
  std::int64_t out_channels = 0;
  double scale_bound = 2.0;   // b
};

// The paper's block. u = Ux = [u0 | u1] with d and C−d channels,
//     y = u0 ⊙ exp(b·tanh(s(u1))) + t(u1),   z = u1,
// and, for a given z, u0 = (y − t(z)) ⊙ exp(−b·tanh(s(z))), x = Uᵀ[u0 | z]. The pseudo-inverse takes z = r(y).
class AffineSurjection final : public Surjection {
 public:
  AffineSurjection(const AffineSurjectionConfig& config, std::shared_ptr<OrthogonalMix> mix, CouplingNets nets,
                   std::shared_ptr<Subnet> r);

  Tensor forward(const Tensor& x) const override;
  Completion complete(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;
  Tensor pinv(const Tensor& y) const override { return invert({y, {r(y)}}); }
  Tensor r(const Tensor& y) const override { return r_->forward(y); }
  const std::shared_ptr<Subnet>& r_net() const override { return r_; }
  const OrthogonalMix& mix() const { return *mix_; }
  Shape z_shape() const override;

 private:
  std::shared_ptr<OrthogonalMix> mix_;
  ScaleShift scale_shift_;
  std::shared_ptr<Subnet> r_;
};

}  // namespace spnn
