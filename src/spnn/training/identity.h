#pragma once

#include <spnn/networks/identity.h>
#include <spnn/training/labelled_batches.h>
#include <spnn/training/train_config.h>

namespace spnn {

struct IdentityRecipe {
  JudgeConfig network;               // `outputs` are the dimensions of the embedding
  double scale = 24;                 // s and m of the margin softmax: cross-entropy of s·(cos θ − m) for the right person
  double margin = 0.25;              // and s·cos θ for all others
  std::int64_t margin_warmup = 500;  // steps in which m rises from 0
  std::int64_t least_images = 2;     // people with fewer training images are left out
  double colour = 0.15;              // brightness, contrast and saturation move by up to this share
  double blur = 0.7;                 // the largest share of a 3×3 mean that is mixed in
  AugmentConfig augment;
  TrainConfig train;
};

void to_json(Json& json, const IdentityRecipe& recipe);
void from_json(const Json& json, IdentityRecipe& recipe);

// How well embeddings tell whether two pictures show the same person, over all pairs of a set.
struct PairFigures {
  double auc = 0;                     // area under the ROC curve: P(cos of a same pair > cos of a different pair)
  double same = 0, different = 0;     // mean cosines
  std::int64_t same_pairs = 0, different_pairs = 0;
};
PairFigures compare_pairs(const Tensor& embeddings, const Tensor& people);   // [N, d] of unit length, [N]

// Trains an embedding by CosFace's margin softmax over the people of the training set; validated on pairs of images of
// people it never saw. Both sets have people as labels (with_people). The table of people is trained beside the network and
// is not part of the model.
class IdentityObjective final : public Objective {
 public:
  IdentityObjective(IdentityRecipe recipe, const Dataset& train, const Dataset& val);

  torch::nn::Module& module() override { return *net_; }
  std::vector<Tensor> parameters() override;
  Losses losses(std::int64_t step, Share share) override;
  Validation validate() override;
  std::map<std::string, std::string> metadata() const override;
  std::map<std::string, Tensor> state() const override { return {{"people", people_}}; }
  void restore(const std::map<std::string, Tensor>& state) override;

 private:
  Tensor recoloured(const Tensor& images, std::int64_t step, Share share) const;

  IdentityRecipe recipe_;
  const Dataset& val_;
  LabelledBatches batches_;
  std::shared_ptr<Identity> net_;
  Tensor people_;   // [P, d]: a direction for every person
};

}  // namespace spnn
