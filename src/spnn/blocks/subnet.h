#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

namespace spnn {

using torch::Tensor;

// What a block plugs in as s, t or r: any map of [B, c, h, w] to [B, c', h, w]. Nothing about it has to be invertible.
class Subnet : public torch::nn::Module {
 public:
  virtual Tensor forward(const Tensor& u) const = 0;

  // The layer whose zeroing makes the net's output zero: training starts there.
  virtual torch::nn::Module& last_layer() = 0;
};

}  // namespace spnn
