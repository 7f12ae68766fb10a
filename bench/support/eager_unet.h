#pragma once

#include <spnn/networks/unet.h>

#include <cmath>
#include <map>

namespace spnn::bench {

// The DDPM U-Net as any libtorch program would write it: torch::conv2d, group_norm, silu, linear, bmm and softmax, one
// after the other. It reads the weights of a UNet by their names and shares no code with it. Counts the multiply-adds of
// its last pass (a direct evaluation's, times two).
class EagerUNet {
 public:
  explicit EagerUNet(const UNet& net) : config_(net.config()) {
    for (const auto& item : net.named_parameters()) weights_[item.key()] = item.value();
  }

  Tensor forward(const Tensor& x, const Tensor& t) {
    flop_ = 0;
    const auto temb = linear("temb.dense.1", torch::silu(linear("temb.dense.0", embedding(t))));
    std::vector<Tensor> skips{conv("conv_in", config_.stem > 1 ? torch::pixel_unshuffle(x, config_.stem) : x, 1, 1)};
    const auto levels = static_cast<std::int64_t>(config_.ch_mult.size());
    for (std::int64_t i = 0; i < levels; ++i) {
      for (std::int64_t j = 0; j < config_.num_res_blocks; ++j)
        skips.push_back(level_block(fmt::format("down.{}", i), j, skips.back(), temb));
      if (i + 1 < levels)
        skips.push_back(conv(fmt::format("down.{}.downsample.conv", i), torch::constant_pad_nd(skips.back(), {0, 1, 0, 1}), 2, 0));
    }
    auto h = block("mid.block_2", attention("mid.attn_1", block("mid.block_1", skips.back(), temb)), temb);
    for (std::int64_t i = levels - 1; i >= 0; --i) {
      for (std::int64_t j = 0; j <= config_.num_res_blocks; ++j) {
        h = level_block(fmt::format("up.{}", i), j, torch::cat({h, skips.back()}, 1), temb);
        skips.pop_back();
      }
      if (i > 0)
        h = conv(fmt::format("up.{}.upsample.conv", i), torch::upsample_nearest2d(h, {h.size(2) * 2, h.size(3) * 2}), 1, 1);
    }
    h = conv("conv_out", torch::silu(norm("norm_out", h)), 1, 1);
    return config_.stem > 1 ? torch::pixel_shuffle(h, config_.stem) : h;
  }

  double flop() const { return flop_; }

 private:
  Tensor embedding(const Tensor& t) const {
    const auto half = config_.ch / 2;
    const auto frequency = torch::exp(torch::arange(half) * (-std::log(10000.0) / static_cast<double>(half - 1)));
    const auto angle = t.to(torch::kFloat32).unsqueeze(1) * frequency.unsqueeze(0);
    return torch::cat({angle.sin(), angle.cos()}, 1);
  }

  Tensor level_block(const std::string& level, std::int64_t j, const Tensor& x, const Tensor& temb) {
    auto h = block(fmt::format("{}.block.{}", level, j), x, temb);
    const auto attn = fmt::format("{}.attn.{}", level, j);
    return weights_.contains(attn + ".q.weight") ? attention(attn, h) : h;
  }

  Tensor block(const std::string& name, const Tensor& x, const Tensor& temb) {
    auto h = conv(name + ".conv1", torch::silu(norm(name + ".norm1", x)), 1, 1);
    h = h + linear(name + ".temb_proj", torch::silu(temb)).unsqueeze(-1).unsqueeze(-1);
    h = conv(name + ".conv2", torch::silu(norm(name + ".norm2", h)), 1, 1);
    return h + (weights_.contains(name + ".nin_shortcut.weight") ? conv(name + ".nin_shortcut", x, 1, 0) : x);
  }

  Tensor attention(const std::string& name, const Tensor& x) {
    const auto h = norm(name + ".norm", x);
    const auto q = conv(name + ".q", h, 1, 0).flatten(2), k = conv(name + ".k", h, 1, 0).flatten(2);
    const auto v = conv(name + ".v", h, 1, 0).flatten(2);
    const auto weights = torch::softmax(torch::bmm(q.transpose(1, 2), k) / std::sqrt(static_cast<double>(x.size(1))), 2);
    flop_ += 4.0 * static_cast<double>(q.numel() * q.size(2));
    return x + conv(name + ".proj_out", torch::bmm(v, weights.transpose(1, 2)).view_as(x), 1, 0);
  }

  Tensor conv(const std::string& name, const Tensor& x, std::int64_t stride, std::int64_t padding) {
    const auto& weight = weights_.at(name + ".weight");
    auto y = torch::conv2d(x, weight, weights_.at(name + ".bias"), stride, padding);
    flop_ += 2.0 * static_cast<double>(y.numel()) * static_cast<double>(weight[0].numel());
    return y;
  }

  Tensor linear(const std::string& name, const Tensor& x) {
    return torch::linear(x, weights_.at(name + ".weight"), weights_.at(name + ".bias"));
  }

  Tensor norm(const std::string& name, const Tensor& x) const {
    return torch::group_norm(x, config_.norm_groups, weights_.at(name + ".weight"), weights_.at(name + ".bias"), 1e-6);
  }

  UNetConfig config_;
  std::map<std::string, Tensor> weights_;
  double flop_ = 0;
};

}  // namespace spnn::bench
