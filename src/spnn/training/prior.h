#pragma once

#include <spnn/data/batches.h>
#include <spnn/diffusion/unet_denoiser.h>
#include <spnn/training/objective.h>
#include <spnn/training/train_config.h>

#include <functional>

namespace spnn {

struct PriorConfig {
  UNetConfig unet;
  std::string parameterization = "v";
  double min_snr = 5;      // each step weighs min(SNR, min_snr) on x̂0; 0 is DDPM's plain ε loss
  bool flip = true;        // horizontal flips
  std::int64_t sheet_every = 1000;   // steps between sheets of samples; validations in between have none
  TrainConfig train;
};

void to_json(Json& json, const PriorConfig& config);
void from_json(const Json& json, PriorConfig& config);

// Training of a DDPM prior: the network predicts v (what is shipped) or ε.
class PriorObjective final : public Objective {
 public:
  using Milestone = std::function<void(const Denoiser&, std::int64_t step)>;   // e.g. a sheet of samples

  PriorObjective(PriorConfig config, const Dataset& train, const Dataset& val, Milestone milestone = {});

  torch::nn::Module& module() override { return *net_; }
  Losses losses(std::int64_t step, Share share) override;
  Validation validate() override;
  void milestone(std::int64_t step) override;
  std::map<std::string, std::string> metadata() const override;

 private:
  // The weighted loss of each image for given times and noise.
  Tensor loss_per_image(const Tensor& x0, const Tensor& t, const Tensor& noise) const;

  PriorConfig config_;
  const Dataset& train_;
  const Dataset& val_;
  Milestone milestone_;
  Schedule schedule_;
  Tensor alpha_bar_;   // [T]
  std::shared_ptr<UNet> net_;
};

}  // namespace spnn
