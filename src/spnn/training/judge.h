#pragma once

#include <spnn/networks/judge.h>
#include <spnn/training/disturb.h>
#include <spnn/training/labelled_batches.h>
#include <spnn/data/task.h>
#include <spnn/training/train_config.h>

namespace spnn {

struct JudgeRecipe {
  JudgeConfig judge;
  double dropout = 0;             // of the features
  double label_smoothing = 0;
  AugmentConfig augment;
  DisturbConfig disturb;          // noise and blur: a judge that has learned through them can be a teacher
  TrainConfig train;
};

void to_json(Json& json, const JudgeRecipe& recipe);
void from_json(const Json& json, JudgeRecipe& recipe);

// Trains the judge on the labels of a data set. The best weights are those of the highest mean validation accuracy;
// with a disturbance, of the mean of that with it and without.
class JudgeObjective final : public Objective {
 public:
  JudgeObjective(JudgeRecipe recipe, const Dataset& train, const Dataset& val);

  torch::nn::Module& module() override { return *judge_; }
  Losses losses(std::int64_t step, Share share) override;
  Validation validate() override;
  std::map<std::string, std::string> metadata() const override;

 private:
  Tensor drop(const Tensor& features, std::int64_t step, Share share) const;

  JudgeRecipe recipe_;
  const Dataset& val_;
  Task task_;
  LabelledBatches batches_;
  std::shared_ptr<Judge> judge_;
};

}  // namespace spnn
