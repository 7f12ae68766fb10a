#pragma once

#include <spnn/core/config.h>
#include <spnn/core/rng.h>
#include <spnn/core/shape.h>
#include <spnn/layers/layers.h>

#include <memory>
#include <vector>

namespace spnn {

struct JudgeConfig {
  std::int64_t image_size = 64;
  std::int64_t in_channels = 3;
  std::vector<std::int64_t> widths = {32, 64, 128, 256};   // channels at 1/2, 1/4, 1/8 … of the image's side
  std::vector<std::int64_t> blocks = {1, 2, 2, 1};         // residual blocks at each of them
  std::int64_t squeeze = 64;                               // channels of the last map before it is flattened
  std::int64_t features = 256;
  std::int64_t outputs = 40;
  std::int64_t norm_groups = 8;
  bool mirror = false;   // also looks at the mirror image and takes the mean: where left and right mean nothing

  friend bool operator==(const JudgeConfig&, const JudgeConfig&) = default;
};

void to_json(Json& json, const JudgeConfig& config);
void from_json(const Json& json, JudgeConfig& config);   // throws for shapes that do not fit together

// A pre-activation residual block: two 3×3 convolutions, the first with the stride.
class JudgeBlock : public torch::nn::Module {
 public:
  struct Config {
    std::int64_t in = 0, out = 0, stride = 1, norm_groups = 8;
  };
  explicit JudgeBlock(const Config& config);
  Tensor forward(const Tensor& x) const;
  void start_as_identity();

 private:
  std::int64_t stride_;
  std::shared_ptr<GroupNorm> norm1_, norm2_;
  std::shared_ptr<Conv2d> conv1_, conv2_, skip_;   // skip_ only where the shape changes
};

// An ordinary residual CNN on the same labels as g. It shares nothing with the SPNN and is never used for guidance, so
// that what it says of a restored image is a second opinion.
class Judge : public torch::nn::Module {
 public:
  explicit Judge(const JudgeConfig& config);   // all weights zero
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  Tensor forward(const Tensor& x) const { return logits(features(x)); }   // x in [−1, 1], [B, C, H, W]
  Tensor features(const Tensor& x) const;                                 // [B, features], for Fréchet distances
  Tensor look(const Tensor& x) const;                                     // features without the mirror: for training
  Tensor logits(const Tensor& features) const { return head_->forward(features); }

  const JudgeConfig& config() const { return config_; }
  Shape in_shape() const { return {config_.in_channels, config_.image_size, config_.image_size}; }

 private:
  friend void initialise_judge(Judge& judge, const Rng& rng);

  JudgeConfig config_;
  std::shared_ptr<Conv2d> stem_;
  std::vector<std::shared_ptr<JudgeBlock>> blocks_;
  std::shared_ptr<GroupNorm> norm_out_;
  std::shared_ptr<Conv2d> squeeze_;
  std::shared_ptr<Linear> embed_, head_;
};

// He's uniform start; residual branches and the head start at zero.
void initialise_judge(Judge& judge, const Rng& rng);

}  // namespace spnn
