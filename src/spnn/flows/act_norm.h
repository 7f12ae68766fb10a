#pragma once

#include <spnn/flows/flow_layer.h>

namespace spnn {

struct ActNormConfig {
  Shape in;
  bool per_position = false;   // a scale for every element (NICE's diagonal S) instead of every channel
};

// y = (x + bias) ⊙ exp(log_scale). start_from_data makes the first batch of mean 0 and deviation 1; without it the layer
// starts as the identity.
class ActNorm final : public FlowLayer {
 public:
  explicit ActNorm(const ActNormConfig& config);

  Observed observe(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;
  void start_from_data(const Tensor& x) override;

 private:
  ActNormConfig config_;
  Tensor bias_, log_scale_;   // [1, C, 1, 1] or [1, C, H, W]
};

}  // namespace spnn
