#pragma once

#include <spnn/blocks/pixel_unshuffle.h>
#include <spnn/flows/flow_layer.h>

namespace spnn {

// Space to depth as a layer of a flow: a permutation, log|det| = 0.
class Squeeze final : public FlowLayer {
 public:
  explicit Squeeze(const PixelUnshuffleConfig& config) : Squeeze(std::make_shared<PixelUnshuffle>(config)) {}

  Observed observe(const Tensor& x) const override { return {unshuffle_->complete(x), x.new_zeros({x.size(0)})}; }
  Tensor invert(const Completion& yz) const override { return unshuffle_->invert(yz); }

 private:
  explicit Squeeze(std::shared_ptr<PixelUnshuffle> unshuffle)
      : FlowLayer(unshuffle->in_shape(), unshuffle->out_shape()), unshuffle_(std::move(unshuffle)) {}
  std::shared_ptr<PixelUnshuffle> unshuffle_;
};

}  // namespace spnn
