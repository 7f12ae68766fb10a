#pragma once

#include <spnn/training/labelled_batches.h>
#include <spnn/training/phase_losses.h>
#include <spnn/training/train_config.h>

namespace spnn {

// Phase II: r alone, the rest frozen (docs/paper_map.md).
//   recipe "paper"      0.3 natural + 1 stability + 1 surjectivity
//   recipe "reference"  0.1 natural + 40 stability + 1 surjectivity: the public code's defaults
//   recipe "fast"       1 regression + 1 rollout
//   recipe "natural"    1 natural: converges to the closed form `origin`
//   recipe "min-norm"   1 min_norm, into the set of r nets called "min_norm"
struct InverseRecipe {
  std::string recipe = "fast";
  PhaseTwoLosses losses;       // the recipe's, where a file does not say otherwise
  std::string r_set = "r";     // the set of r nets that is trained; one that the model has not is added
  bool from_scratch = false;   // start r anew instead of where the model has it
  AugmentConfig augment;
  TrainConfig train;
};

void to_json(Json& json, const InverseRecipe& recipe);
void from_json(const Json& json, InverseRecipe& recipe);

class InverseObjective final : public Objective {
 public:
  // `carried` (statistics of the outputs) and `metadata` of the model go on into the new model's file.
  struct Model {
    std::shared_ptr<Spnn> net;
    std::map<std::string, Tensor> carried = {};
    std::map<std::string, std::string> metadata = {};

    // Of the file of this network after a training whose recipe goes under `key`.
    std::map<std::string, std::string> metadata_after(const std::string& key, const Json& recipe) const;
  };
  // Freezes all of the network but the set of r nets that is trained.
  InverseObjective(InverseRecipe recipe, Model model, const Dataset& train, const Dataset& val);

  torch::nn::Module& module() override { return *model_.net; }
  std::vector<Tensor> parameters() override { return model_.net->r_parameters(recipe_.r_set); }
  Losses losses(std::int64_t step, Share share) override;
  Validation validate() override;
  std::map<std::string, std::string> metadata() const override;
  std::map<std::string, Tensor> companions() const override { return model_.carried; }

 private:
  Losses weighted(const Tensor& x) const;

  InverseRecipe recipe_;
  Model model_;
  const Dataset& val_;
  LabelledBatches batches_;
  std::vector<Tensor> q_of_zero_;
};

}  // namespace spnn
