#pragma once

#include <spnn/core/config.h>
#include <spnn/core/rng.h>
#include <spnn/layers/layers.h>

#include <memory>
#include <vector>

namespace spnn {

// The DDPM U-Net of the public checkpoints, tensor names included. With `stem` f > 1 the image
// is pixel-unshuffled by f first and shuffled back at the end: the same network at a resolution a CPU can train.
struct UNetConfig {
  std::int64_t image_size = 64;
  std::int64_t in_channels = 3;
  std::int64_t out_channels = 3;
  std::int64_t ch = 128;
  std::vector<std::int64_t> ch_mult = {1, 2, 2, 2};
  std::int64_t num_res_blocks = 2;
  std::vector<std::int64_t> attn_resolutions = {16};   // of the maps inside, after the stem
  std::int64_t stem = 1;
  std::int64_t norm_groups = 32;
};

void to_json(Json& json, const UNetConfig& config);
void from_json(const Json& json, UNetConfig& config);   // absent keys keep their defaults; unknown keys are an error

class ResBlock;
class AttnBlock;

class UNet : public torch::nn::Module {
 public:
  explicit UNet(UNetConfig config);

  // x: [B, C, H, W]; t: [B], the time steps, or [1] for one shared by the batch. Returns the raw output (ε for public weights).
  Tensor forward(const Tensor& x, const Tensor& t) const;
  const UNetConfig& config() const { return config_; }

 private:
  struct Level {
    std::vector<std::shared_ptr<ResBlock>> blocks;
    std::vector<std::shared_ptr<AttnBlock>> attns;   // empty, or one per block
    std::shared_ptr<Conv2d> resample;                // none at the end
  };
  void build_down(std::int64_t resolution, std::vector<std::int64_t>& skip_channels);
  void build_up(std::int64_t resolution, std::vector<std::int64_t> skip_channels);
  bool attends(std::int64_t resolution) const;
  Tensor time_embedding(const Tensor& t) const;

  UNetConfig config_;
  std::shared_ptr<Linear> dense0_, dense1_;
  std::shared_ptr<Conv2d> conv_in_, conv_out_;
  std::vector<Level> down_, up_;
  std::shared_ptr<ResBlock> mid1_, mid2_;
  std::shared_ptr<AttnBlock> mid_attn_;
  std::shared_ptr<GroupNorm> norm_out_;
};

// The start of training: weights from the seed, the last convolution of every residual branch and of the network zero.
void initialise_unet(UNet& net, const Rng& rng);

}  // namespace spnn
