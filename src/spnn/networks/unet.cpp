#include <spnn/core/errors.h>
#include <spnn/core/json_fields.h>
#include <spnn/kernels/convolution.h>
#include <spnn/layers/init.h>
#include <spnn/layers/module_tree.h>
#include <spnn/networks/unet.h>
#include <spnn/networks/unet_blocks.h>

#include <algorithm>
#include <cmath>

namespace spnn {

void to_json(Json& json, const UNetConfig& c) {
  json = {{"image_size", c.image_size},             {"in_channels", c.in_channels},
          {"out_channels", c.out_channels},         {"ch", c.ch},
          {"ch_mult", c.ch_mult},                   {"num_res_blocks", c.num_res_blocks},
          {"attn_resolutions", c.attn_resolutions}, {"stem", c.stem},
          {"norm_groups", c.norm_groups}};
}

void from_json(const Json& json, UNetConfig& c) {
  JsonFields(json, "unet")
      .optional("image_size", c.image_size)
      .optional("in_channels", c.in_channels)
      .optional("out_channels", c.out_channels)
      .optional("ch", c.ch)
      .optional("ch_mult", c.ch_mult)
      .optional("num_res_blocks", c.num_res_blocks)
      .optional("attn_resolutions", c.attn_resolutions)
      .optional("stem", c.stem)
      .optional("norm_groups", c.norm_groups)
      .no_others();
}

UNet::UNet(UNetConfig config) : config_(std::move(config)) {
  const auto& c = config_;
  require(!c.ch_mult.empty() && c.ch > 0 && c.num_res_blocks > 0, "unet", "ch, ch_mult and num_res_blocks above zero",
          fmt::format("ch {}, {} levels, {} blocks", c.ch, c.ch_mult.size(), c.num_res_blocks));
  const auto divisor = c.stem << (c.ch_mult.size() - 1);
  require(c.stem > 0 && c.image_size % divisor == 0, "unet.image_size", fmt::format("a multiple of {}", divisor),
          std::to_string(c.image_size));
  dense0_ = place(*this, "temb.dense.0", std::make_shared<Linear>(c.ch, 4 * c.ch));
  dense1_ = place(*this, "temb.dense.1", std::make_shared<Linear>(4 * c.ch, 4 * c.ch));
  const auto area = c.stem * c.stem;
  conv_in_ = register_module("conv_in", std::make_shared<Conv2d>(Conv2dConfig{.in = c.in_channels * area, .out = c.ch}));
  const auto resolution = c.image_size / c.stem;
  std::vector<std::int64_t> skip_channels;
  build_down(resolution, skip_channels);
  const auto widest = c.ch * c.ch_mult.back();
  mid1_ = place(*this, "mid.block_1", std::make_shared<ResBlock>(widest, widest, 4 * c.ch, c.norm_groups));
  mid_attn_ = place(*this, "mid.attn_1", std::make_shared<AttnBlock>(widest, c.norm_groups));
  mid2_ = place(*this, "mid.block_2", std::make_shared<ResBlock>(widest, widest, 4 * c.ch, c.norm_groups));
  build_up(resolution, std::move(skip_channels));
  const auto narrow = c.ch * c.ch_mult.front();
  norm_out_ = register_module(
      "norm_out", std::make_shared<GroupNorm>(GroupNormConfig{.channels = narrow, .groups = c.norm_groups}));
  conv_out_ = register_module("conv_out", std::make_shared<Conv2d>(Conv2dConfig{.in = narrow, .out = c.out_channels * area}));
}

bool UNet::attends(std::int64_t resolution) const {
  return std::ranges::find(config_.attn_resolutions, resolution) != config_.attn_resolutions.end();
}

void UNet::build_down(std::int64_t resolution, std::vector<std::int64_t>& skip_channels) {
  const auto& c = config_;
  auto width = c.ch;
  skip_channels = {width};
  for (std::size_t i = 0; i < c.ch_mult.size(); ++i, resolution /= 2) {
    Level level;
    const auto out = c.ch * c.ch_mult[i];
    for (std::int64_t j = 0; j < c.num_res_blocks; ++j) {
      level.blocks.push_back(place(*this, fmt::format("down.{}.block.{}", i, j),
                                   std::make_shared<ResBlock>(width, out, 4 * c.ch, c.norm_groups)));
      width = out;
      skip_channels.push_back(width);
      if (attends(resolution)) {
        level.attns.push_back(
            place(*this, fmt::format("down.{}.attn.{}", i, j), std::make_shared<AttnBlock>(width, c.norm_groups)));
      }
    }
    if (i + 1 < c.ch_mult.size()) {
      level.resample = place(*this, fmt::format("down.{}.downsample.conv", i),
                             std::make_shared<Conv2d>(Conv2dConfig{.in = width, .out = width, .stride = 2, .padding = 0}));
      skip_channels.push_back(width);
    }
    down_.push_back(std::move(level));
  }
}

// up.0 is the full resolution, as in the public files; the forward pass runs from the last to the first.
void UNet::build_up(std::int64_t resolution, std::vector<std::int64_t> skip_channels) {
  const auto& c = config_;
  up_.resize(c.ch_mult.size());
  auto width = c.ch * c.ch_mult.back();
  for (auto i = static_cast<std::int64_t>(c.ch_mult.size()) - 1; i >= 0; --i) {
    auto& level = up_[static_cast<std::size_t>(i)];
    const auto out = c.ch * c.ch_mult[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j <= c.num_res_blocks; ++j) {
      const auto skip = skip_channels.back();
      skip_channels.pop_back();
      level.blocks.push_back(place(*this, fmt::format("up.{}.block.{}", i, j),
                                   std::make_shared<ResBlock>(width + skip, out, 4 * c.ch, c.norm_groups)));
      width = out;
      if (attends(resolution >> i)) {
        level.attns.push_back(
            place(*this, fmt::format("up.{}.attn.{}", i, j), std::make_shared<AttnBlock>(width, c.norm_groups)));
      }
    }
    if (i > 0) {
      level.resample = place(*this, fmt::format("up.{}.upsample.conv", i),
                             std::make_shared<Conv2d>(Conv2dConfig{.in = width, .out = width}));
    }
  }
}

Tensor UNet::time_embedding(const Tensor& t) const {
  const auto half = config_.ch / 2;
  const auto options = conv_in_->weight.options().requires_grad(false);
  const auto i = torch::arange(half, options);
  const auto frequency = torch::exp(i * (-std::log(10000.0) / static_cast<double>(half - 1)));
  const auto angle = t.to(options).unsqueeze(1) * frequency.unsqueeze(0);
  const auto embedding = torch::cat({angle.sin(), angle.cos()}, 1);
  return dense1_->forward(torch::silu(dense0_->forward(embedding)));
}

Tensor UNet::forward(const Tensor& x, const Tensor& t) const {
  const auto temb = torch::silu(time_embedding(t));
  std::vector<Tensor> skips = {conv_in_->forward(config_.stem > 1 ? torch::pixel_unshuffle(x, config_.stem) : x)};
  for (const auto& level : down_) {
    for (std::size_t j = 0; j < level.blocks.size(); ++j) {
      auto h = level.blocks[j]->forward(skips.back(), temb);
      if (!level.attns.empty()) h = level.attns[j]->forward(h);
      skips.push_back(h);
    }
    if (level.resample) skips.push_back(conv3x3_halved(skips.back(), level.resample->weight, level.resample->bias));
  }
  auto h = mid2_->forward(mid_attn_->forward(mid1_->forward(skips.back(), temb)), temb);
  for (auto level = up_.rbegin(); level != up_.rend(); ++level) {
    for (std::size_t j = 0; j < level->blocks.size(); ++j) {
      h = level->blocks[j]->forward_joined(h, skips.back(), temb);
      skips.pop_back();
      if (!level->attns.empty()) h = level->attns[j]->forward(h);
    }
    if (level->resample) h = conv3x3_doubled(h, level->resample->weight, level->resample->bias);
  }
  h = conv_out_->forward(norm_out_->forward_silu(h));
  return config_.stem > 1 ? torch::pixel_shuffle(h, config_.stem) : h;
}

void initialise_unet(UNet& net, const Rng& rng) {
  initialise(net, rng);
  for (const auto& module : net.modules(/*include_self=*/false)) {
    if (auto* block = dynamic_cast<ResBlock*>(module.get())) zero_(block->last());
    if (auto* attn = dynamic_cast<AttnBlock*>(module.get())) zero_(attn->last());
  }
  zero_(*net.named_children()["conv_out"]);
}

}  // namespace spnn
