#pragma once

#include <spnn/layers/layers.h>

#include <memory>

namespace spnn {

// x + conv2(silu(norm2(conv1(silu(norm1(x))) + temb_proj(silu(temb))))), with a 1×1 shortcut where widths differ.
class ResBlock : public torch::nn::Module {
 public:
  ResBlock(std::int64_t in, std::int64_t out, std::int64_t temb_channels, std::int64_t groups);
  Tensor forward(const Tensor& x, const Tensor& silu_temb) const;   // silu(temb) is shared by all blocks
  Tensor forward_joined(const Tensor& x, const Tensor& skip, const Tensor& silu_temb) const;   // forward([x | skip])
  Conv2d& last() { return *conv2_; }

 private:
  Tensor branch(const Tensor& h, const Tensor& shortcut, const Tensor& silu_temb) const;   // from silu(norm1(x)) on
  std::shared_ptr<GroupNorm> norm1_, norm2_;
  std::shared_ptr<Conv2d> conv1_, conv2_, nin_shortcut_;
  std::shared_ptr<Linear> temb_proj_;
};

// x + proj_out(softmax(qᵀk·C^−½) v) over the pixels of norm(x), one head.
class AttnBlock : public torch::nn::Module {
 public:
  AttnBlock(std::int64_t channels, std::int64_t groups);
  Tensor forward(const Tensor& x) const;
  Conv2d& last() { return *proj_out_; }

 private:
  std::shared_ptr<GroupNorm> norm_;
  std::shared_ptr<Conv2d> q_, k_, v_, proj_out_;
};

}  // namespace spnn
