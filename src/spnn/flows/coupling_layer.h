#pragma once

#include <spnn/blocks/subnet.h>
#include <spnn/flows/flow_layer.h>

#include <memory>

namespace spnn {

struct CouplingLayerConfig {
  Shape in;
  bool moves_first = true;    // which half of the channels moves; the other drives and passes
  bool affine = true;         // with a scale (RealNVP), or a shift alone (NICE)
  double scale_bound = 2.0;   // b
};

// x_moved ⊙ exp(b·tanh(s(x_kept))) + t(x_kept), x_kept as it is. log|det| = Σ b·tanh(s). `net` gives [s | t], or t alone.
class CouplingLayer final : public FlowLayer {
 public:
  CouplingLayer(const CouplingLayerConfig& config, std::shared_ptr<Subnet> net);

  Observed observe(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;

  // Channels of the two parts of a coupling over `channels`.
  static std::int64_t moved(std::int64_t channels, bool moves_first);

 private:
  struct Parts {
    Tensor moved, kept;
  };
  struct ScaleAndShift {
    Tensor log_scale, shift;   // log_scale undefined: additive
  };
  Parts split(const Tensor& x) const;
  Tensor join(const Tensor& moved, const Tensor& kept) const;
  ScaleAndShift at(const Tensor& kept) const;

  CouplingLayerConfig config_;
  std::int64_t first_;   // channels of the first part
  std::shared_ptr<Subnet> net_;
};

}  // namespace spnn
