#include <spnn/core/json_fields.h>
#include <spnn/layers/init.h>
#include <spnn/layers/module_tree.h>
#include <spnn/networks/judge.h>

#include <cmath>

namespace spnn {

void to_json(Json& json, const JudgeConfig& c) {
  json = {{"image_size", c.image_size}, {"in_channels", c.in_channels}, {"widths", c.widths},
          {"blocks", c.blocks},         {"squeeze", c.squeeze},         {"features", c.features},
          {"outputs", c.outputs},       {"norm_groups", c.norm_groups}, {"mirror", c.mirror}};
}

void from_json(const Json& json, JudgeConfig& c) {
  JsonFields(json, "judge")
      .optional("image_size", c.image_size)
      .optional("in_channels", c.in_channels)
      .optional("widths", c.widths)
      .optional("blocks", c.blocks)
      .optional("squeeze", c.squeeze)
      .optional("features", c.features)
      .optional("outputs", c.outputs)
      .optional("norm_groups", c.norm_groups)
      .optional("mirror", c.mirror)
      .no_others();
  require(!c.widths.empty() && c.widths.size() == c.blocks.size(), "judge", "as many widths as block counts, at least one",
          fmt::format("{} and {}", c.widths.size(), c.blocks.size()));
  const std::int64_t shrink = std::int64_t{1} << c.widths.size();
  require(c.image_size > 0 && c.image_size % shrink == 0, "judge.image_size", fmt::format("a multiple of {}", shrink),
          std::to_string(c.image_size));
  require(c.outputs > 0, "judge.outputs", "a positive number", std::to_string(c.outputs));
}

JudgeBlock::JudgeBlock(const Config& c) : stride_(c.stride) {
  norm1_ = register_module("norm1", std::make_shared<GroupNorm>(GroupNormConfig{c.in, c.norm_groups}));
  conv1_ = register_module("conv1", std::make_shared<Conv2d>(Conv2dConfig{.in = c.in, .out = c.out, .stride = c.stride}));
  norm2_ = register_module("norm2", std::make_shared<GroupNorm>(GroupNormConfig{c.out, c.norm_groups}));
  conv2_ = register_module("conv2", std::make_shared<Conv2d>(Conv2dConfig{.in = c.out, .out = c.out}));
  if (c.in != c.out) {
    skip_ = register_module("skip", std::make_shared<Conv2d>(Conv2dConfig{.in = c.in, .out = c.out, .kernel = 1, .padding = 0}));
  }
}

Tensor JudgeBlock::forward(const Tensor& x) const {
  const auto h = conv2_->forward(norm2_->forward_silu(conv1_->forward(norm1_->forward_silu(x))));
  auto past = stride_ == 1 ? x : torch::avg_pool2d(x, stride_);
  if (skip_) past = skip_->forward(past);
  return past + h;
}

void JudgeBlock::start_as_identity() { zero_(*conv2_); }

Judge::Judge(const JudgeConfig& config) : config_(config) {
  // 2×2 pixels become channels: the stem sees 6×6 pixels at a quarter of the cost.
  stem_ = place(*this, "stem", std::make_shared<Conv2d>(Conv2dConfig{.in = 4 * config.in_channels, .out = config.widths.front()}));
  std::int64_t channels = config.widths.front();
  for (std::size_t level = 0; level < config.widths.size(); ++level) {
    for (std::int64_t b = 0; b < config.blocks[level]; ++b) {
      const auto block = std::make_shared<JudgeBlock>(JudgeBlock::Config{.in = channels, .out = config.widths[level],
                                                                         .stride = level > 0 && b == 0 ? 2 : 1,
                                                                         .norm_groups = config.norm_groups});
      blocks_.push_back(place(*this, fmt::format("level.{}.block.{}", level, b), block));
      channels = config.widths[level];
    }
  }
  norm_out_ = place(*this, "norm_out", std::make_shared<GroupNorm>(GroupNormConfig{channels, config.norm_groups}));
  // Faces are aligned: where something is says what it is, so the last map is flattened, not averaged.
  squeeze_ = place(*this, "squeeze", std::make_shared<Conv2d>(Conv2dConfig{.in = channels, .out = config.squeeze, .kernel = 1, .padding = 0}));
  const auto side = config.image_size >> config.widths.size();
  embed_ = place(*this, "embed", std::make_shared<Linear>(config.squeeze * side * side, config.features));
  head_ = place(*this, "head", std::make_shared<Linear>(config.features, config.outputs));
}

Tensor Judge::features(const Tensor& x) const {
  return config_.mirror ? 0.5 * (look(x) + look(x.flip(3))) : look(x);
}

Tensor Judge::look(const Tensor& x) const {
  require_shape(x, in_shape(), "Judge");
  auto h = stem_->forward(torch::pixel_unshuffle(x, 2));
  for (const auto& block : blocks_) h = block->forward(h);
  return torch::silu(embed_->forward(torch::silu(squeeze_->forward(norm_out_->forward_silu(h))).flatten(1)));
}

void initialise_judge(Judge& judge, const Rng& rng) {
  initialise(judge, rng, std::sqrt(2.0));
  for (const auto& block : judge.blocks_) block->start_as_identity();
  zero_(*judge.head_);
}

}  // namespace spnn
