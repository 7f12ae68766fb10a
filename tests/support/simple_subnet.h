#pragma once

#include <spnn/blocks/subnet.h>
#include <spnn/layers/layers.h>

namespace spnn::testing {

// conv, tanh, conv: enough of a network for a block's laws.
class SimpleSubnet final : public Subnet {
 public:
  SimpleSubnet(std::int64_t from, std::int64_t to) {
    first_ = register_module("first", std::make_shared<Conv2d>(Conv2dConfig{.in = from, .out = 8}));
    last_ = register_module("last", std::make_shared<Conv2d>(Conv2dConfig{.in = 8, .out = to}));
  }
  Tensor forward(const Tensor& u) const override { return last_->forward(torch::tanh(first_->forward(u))); }
  torch::nn::Module& last_layer() override { return *last_; }

 private:
  std::shared_ptr<Conv2d> first_, last_;
};

}  // namespace spnn::testing
