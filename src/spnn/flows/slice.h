#pragma once

#include <spnn/flows/conditional_gaussian.h>
#include <spnn/flows/flow_layer.h>

namespace spnn {

struct SliceConfig {
  Shape in;
  std::int64_t kept_channels = 0;
};

// SurVAE's tensor slice, in the direction that discards: y = the first channels, the rest is x1 ~ r(·| y), a Gaussian whose
// mean and log-scale a net gives. log p(x) = log p(y) + log r(x1 | y) is exact, not a bound: y is a function of x. Without
// a net the discarded part is standard normal: RealNVP's factor-out.
class Slice final : public FlowLayer {
 public:
  Slice(const SliceConfig& config, std::shared_ptr<Subnet> r);

  Observed observe(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;
  bool discards() const override { return true; }
  Shape z_shape() const override;

 private:
  ConditionalGaussian r_;
};

}  // namespace spnn
