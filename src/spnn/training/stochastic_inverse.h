#pragma once

#include <spnn/projection/stochastic_inverse.h>
#include <spnn/training/inverse.h>

namespace spnn {

// recipe = "stochastic" of 'spnn train inverse': the log-scales of the discarded parts, all else frozen.
struct StochasticRecipe {
  std::string recipe = "stochastic";
  AugmentConfig augment;
  TrainConfig train;
};

void to_json(Json& json, const StochasticRecipe& recipe);
void from_json(const Json& json, StochasticRecipe& recipe);

// Minimises −log p(z | y) in nats per discarded dimension.
class StochasticInverseObjective final : public Objective {
 public:
  // Adds the set of nets if the model has none.
  StochasticInverseObjective(StochasticRecipe recipe, InverseObjective::Model model, const Dataset& train, const Dataset& val);

  torch::nn::Module& module() override { return *model_.net; }
  std::vector<Tensor> parameters() override { return model_.net->r_parameters(StochasticInverse::scales); }
  Losses losses(std::int64_t step, Share share) override;
  Validation validate() override;
  std::map<std::string, std::string> metadata() const override;
  std::map<std::string, Tensor> companions() const override { return model_.carried; }

 private:
  Tensor nats(const Tensor& x) const;   // per image and discarded dimension

  StochasticRecipe recipe_;
  InverseObjective::Model model_;
  const Dataset& val_;
  LabelledBatches batches_;
};

}  // namespace spnn
