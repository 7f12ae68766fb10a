#pragma once

#include <spnn/core/completion.h>
#include <spnn/core/shape.h>
#include <torch/nn/module.h>

#include <memory>

namespace spnn {

// One block of an SPNN: a surjection with its completion, or a bijection (which discards nothing and has no z).
// Tensors are [B, C, H, W] throughout; vectors have H = W = 1.
//   ensures  invert(complete(x)) = x and forward(pinv(y)) = y to rounding.
class Block : public torch::nn::Module {
 public:
  Block(const Shape& in, const Shape& out) : in_(in), out_(out) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  virtual Tensor forward(const Tensor& x) const { return complete(x).y; }
  virtual Completion complete(const Tensor& x) const = 0;      // [y | z], z with one entry or none
  virtual Tensor invert(const Completion& yz) const = 0;
  virtual Tensor pinv(const Tensor& y) const = 0;

  // Whether complete() returns a z.
  virtual bool discards() const { return false; }

  const Shape& in_shape() const { return in_; }
  const Shape& out_shape() const { return out_; }

 private:
  Shape in_, out_;
};

class Subnet;

// A block that discards z: a level of the network. r predicts z from y for the pseudo-inverse.
class Surjection : public Block {
 public:
  using Block::Block;
  bool discards() const final { return true; }
  virtual const std::shared_ptr<Subnet>& r_net() const = 0;
  virtual Tensor r(const Tensor& y) const = 0;     // the predicted z
  virtual Shape z_shape() const = 0;
};

}  // namespace spnn
