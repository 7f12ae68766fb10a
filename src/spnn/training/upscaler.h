#pragma once

#include <spnn/data/batches.h>
#include <spnn/diffusion/schedule.h>
#include <spnn/networks/upscaler.h>
#include <spnn/training/objective.h>
#include <spnn/training/train_config.h>

#include <functional>
#include <optional>

namespace spnn {

struct UpscalerRecipe {
  UpscalerConfig network;
  double min_snr = 5;          // each step weighs min(SNR, min_snr) on ẑ0; 0: as the network's own output is off
  double time_power = 1;       // t = T·u^power for u in [0, 1): above 1 small noise, where fine detail forms, is drawn more often
  bool flip = true;
  std::int64_t sheet_every = 1000;
  TrainConfig train;
};

void to_json(Json& json, const UpscalerRecipe& recipe);
void from_json(const Json& json, UpscalerRecipe& recipe);

// Diffusion training of the detail of crops, given the small image of the crop. The attention in the middle of
// the U-Net is left at its start, where it adds nothing: what it learned on crops would not hold for whole images.
class UpscalerObjective final : public Objective {
 public:
  using Milestone = std::function<void(const std::shared_ptr<const Upscaler>&, std::int64_t step)>;

  UpscalerObjective(UpscalerRecipe recipe, const Dataset& train, const Dataset& val, Milestone milestone = {});

  torch::nn::Module& module() override { return *net_; }
  std::vector<Tensor> parameters() override;
  Losses losses(std::int64_t step, Share share) override;
  Validation validate() override;
  void milestone(std::int64_t step) override {
    if (milestone_) milestone_(net_, step);
  }
  std::map<std::string, std::string> metadata() const override;

  Upscaler& network() { return *net_; }
  std::int64_t crop_size() const { return recipe_.network.unet.image_size * recipe_.network.factor; }

 private:
  struct Draw {
    Tensor t, noise, level, low_noise;   // [B], of z, [B], of the small image
  };
  Draw draw(std::int64_t count, const Rng& rng) const;
  Batch crops(const Dataset& set, const Tensor& indices, const Rng& rng) const;   // labels: top and left in cells, [B, 2]
  Tensor loss_per_crop(const Batch& crops, const Draw& draw) const;

  UpscalerRecipe recipe_;
  const Dataset& train_;
  const Dataset& val_;
  Milestone milestone_;
  Schedule schedule_;
  Tensor alpha_bar_;   // [T]
  std::shared_ptr<Upscaler> net_;
  std::optional<Prefetcher> prefetcher_;
};

}  // namespace spnn
