#pragma once

#include <spnn/flows/flow.h>
#include <spnn/training/labelled_batches.h>
#include <spnn/training/train_config.h>

#include <functional>

namespace spnn {

struct DensityRecipe {
  FlowConfig flow;
  AugmentConfig augment;             // of the images; flow.augment is another thing
  std::int64_t start_images = 256;   // training images for the data-dependent initial values
  std::int64_t validation_images = 512;
  TrainConfig train;
};

void to_json(Json& json, const DensityRecipe& recipe);
void from_json(const Json& json, DensityRecipe& recipe);

// Maximum likelihood of dequantised images: minimises bits per dimension, exact for bijections and slices, a bound by the
// dequantisation (and by flow.augment).
class DensityObjective final : public Objective {
 public:
  using Milestone = std::function<void(const Flow&, std::int64_t step)>;   // e.g. a sheet of samples

  DensityObjective(DensityRecipe recipe, const Dataset& train, const Dataset& val, Milestone milestone = {});

  torch::nn::Module& module() override { return *flow_; }
  Losses losses(std::int64_t step, Share share) override;
  Validation validate() override;
  void milestone(std::int64_t step) override;
  std::map<std::string, std::string> metadata() const override;

 private:
  DensityRecipe recipe_;
  const Dataset& val_;
  Milestone milestone_;
  LabelledBatches batches_;
  std::shared_ptr<Flow> flow_;
};

// Bits per dimension of each image, [N]: uint8 images; image i is dequantised by (rng, i) only, whatever the batch.
Tensor bits_per_dim_over(const Flow& flow, const Tensor& images, const Rng& rng, std::int64_t batch = 64);

}  // namespace spnn
