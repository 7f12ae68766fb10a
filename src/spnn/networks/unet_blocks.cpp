#include <spnn/kernels/convolution.h>
#include <spnn/kernels/group_norm.h>
#include <spnn/networks/unet_blocks.h>

#include <cmath>

namespace spnn {
namespace {

std::shared_ptr<Conv2d> layer_3x3(std::int64_t in, std::int64_t out) {
  return std::make_shared<Conv2d>(Conv2dConfig{.in = in, .out = out});
}

std::shared_ptr<Conv2d> layer_1x1(std::int64_t in, std::int64_t out) {
  return std::make_shared<Conv2d>(Conv2dConfig{.in = in, .out = out, .kernel = 1, .padding = 0});
}

std::shared_ptr<GroupNorm> norm(std::int64_t channels, std::int64_t groups) {
  return std::make_shared<GroupNorm>(GroupNormConfig{.channels = channels, .groups = groups});
}

}  // namespace

ResBlock::ResBlock(std::int64_t in, std::int64_t out, std::int64_t temb_channels, std::int64_t groups) {
  norm1_ = register_module("norm1", norm(in, groups));
  conv1_ = register_module("conv1", layer_3x3(in, out));
  temb_proj_ = register_module("temb_proj", std::make_shared<Linear>(temb_channels, out));
  norm2_ = register_module("norm2", norm(out, groups));
  conv2_ = register_module("conv2", layer_3x3(out, out));
  if (in != out) nin_shortcut_ = register_module("nin_shortcut", layer_1x1(in, out));
}

Tensor ResBlock::branch(const Tensor& h, const Tensor& shortcut, const Tensor& silu_temb) const {
  return conv2_->forward_plus(norm2_->forward_silu(conv1_->forward_biased(h, temb_proj_->forward(silu_temb))), shortcut);
}

Tensor ResBlock::forward(const Tensor& x, const Tensor& silu_temb) const {
  return branch(norm1_->forward_silu(x), nin_shortcut_ ? nin_shortcut_->forward(x) : x, silu_temb);
}

Tensor ResBlock::forward_joined(const Tensor& x, const Tensor& skip, const Tensor& silu_temb) const {
  if (torch::GradMode::is_enabled() || !nin_shortcut_) return forward(torch::cat({x, skip}, 1), silu_temb);
  const GroupNormOptions options{norm1_->config().groups, norm1_->config().eps, NormActivation::silu};
  return branch(group_norm_joined(x, skip, norm1_->weight, norm1_->bias, options),
                conv1x1_joined(x, skip, nin_shortcut_->weight, nin_shortcut_->bias), silu_temb);
}

AttnBlock::AttnBlock(std::int64_t channels, std::int64_t groups) {
  norm_ = register_module("norm", norm(channels, groups));
  q_ = register_module("q", layer_1x1(channels, channels));
  k_ = register_module("k", layer_1x1(channels, channels));
  v_ = register_module("v", layer_1x1(channels, channels));
  proj_out_ = register_module("proj_out", layer_1x1(channels, channels));
}

Tensor AttnBlock::forward(const Tensor& x) const {
  const auto h = norm_->forward(x);
  const auto q = q_->forward(h).flatten(2), k = k_->forward(h).flatten(2), v = v_->forward(h).flatten(2);
  const double scale = 1.0 / std::sqrt(static_cast<double>(x.size(1)));
  const auto weights = torch::softmax(torch::bmm(q.transpose(1, 2), k) * scale, /*dim=*/2);   // [B, query, key]
  const auto mixed = torch::bmm(v, weights.transpose(1, 2)).view_as(x);
  return proj_out_->forward_plus(mixed, x);
}

}  // namespace spnn
