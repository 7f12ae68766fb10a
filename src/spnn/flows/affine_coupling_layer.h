#pragma once

#include <spnn/flows/coupling_layer.h>

namespace spnn {

// NICE: x + t. The net gives t; log|det| = 0.
class AdditiveCouplingLayer final : public CouplingLayer {
 public:
  AdditiveCouplingLayer(const CouplingLayerConfig& config, std::shared_ptr<Subnet> net)
      : CouplingLayer(config, std::move(net)) {}

 private:
  Moved move(const Tensor& x, const Tensor& t) const override { return {x + t, x.new_zeros({x.size(0)})}; }
  Tensor move_back(const Tensor& y, const Tensor& t) const override { return y - t; }
};

// RealNVP: x ⊙ exp(b·tanh(s)) + t. The net gives [s | t]; log|det| = Σ b·tanh(s).
class AffineCouplingLayer final : public CouplingLayer {
 public:
  AffineCouplingLayer(const CouplingLayerConfig& config, double scale_bound, std::shared_ptr<Subnet> net);

 private:
  Moved move(const Tensor& x, const Tensor& theta) const override;
  Tensor move_back(const Tensor& y, const Tensor& theta) const override;

  struct ScaleAndShift {
    Tensor log_scale, shift;
  };
  ScaleAndShift parts(const Tensor& theta) const;

  double scale_bound_;   // b
};

}  // namespace spnn
