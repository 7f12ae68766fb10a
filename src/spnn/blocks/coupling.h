#pragma once

#include <spnn/blocks/block.h>
#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/blocks/scale_shift.h>

namespace spnn {

struct CouplingConfig {
  Shape in;
  std::int64_t moved_channels = 0;   // the first channels of Ux move, the others drive and pass
  double scale_bound = 2.0;
};

// The bijections among the blocks: y = [u0 ⊙ exp(b·tanh(s(u1))) + t(u1) | u1] with u = Ux. Nothing is discarded.
// With s and t it is RealNVP's affine coupling, with t alone NICE's additive one.
class Coupling : public Block {
 public:
  Coupling(const CouplingConfig& config, std::shared_ptr<OrthogonalMix> mix, CouplingNets nets);

  Completion complete(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override { return pinv(yz.y); }
  Tensor pinv(const Tensor& y) const override;

 private:
  std::int64_t moved_;
  std::shared_ptr<OrthogonalMix> mix_;
  ScaleShift scale_shift_;
};

class AffineCoupling final : public Coupling {
 public:
  AffineCoupling(const CouplingConfig& config, std::shared_ptr<OrthogonalMix> mix, CouplingNets nets);
};

class AdditiveCoupling final : public Coupling {
 public:
  AdditiveCoupling(const CouplingConfig& config, std::shared_ptr<OrthogonalMix> mix, std::shared_ptr<Subnet> t)
      : Coupling(config, std::move(mix), {.s = nullptr, .t = std::move(t), .st = nullptr}) {}
};

}  // namespace spnn
