#pragma once

#include <spnn/checkpoint/guidance_windows.h>
#include <spnn/networks/spnn.h>
#include <spnn/training/adaptive_weights.h>
#include <spnn/data/task.h>
#include <spnn/training/labelled_batches.h>
#include <spnn/training/phase_losses.h>
#include <spnn/training/train_config.h>

namespace spnn {

// Phase I: s, t, U and r together (the paper's section on training; docs/paper_map.md).
//   recipe "paper"  1 task + 40 surjectivity + 40 stability
//   recipe "fast"   1 task + 1 regression
struct ClassifierRecipe {
  std::string recipe = "fast";
  SpnnConfig network;             // in a file: the name of a preset, or the whole architecture
  PhaseOneLosses losses;          // the recipe's, where a file does not say otherwise
  std::int64_t inverse_every = 1; // surjectivity and stability are taken over every so many-th image of a batch
  double label_smoothing = 0;
  AdaptiveWeightsConfig adaptive_weights;
  AugmentConfig augment;
  TrainConfig train;
  GuidanceWindows guidance;       // goes into the model's file: training knows nothing of it
};

void to_json(Json& json, const ClassifierRecipe& recipe);
void from_json(const Json& json, ClassifierRecipe& recipe);

class ClassifierObjective final : public Objective {
 public:
  // With a black box D the task is ‖g(x) − D(x)‖² and the labels serve validation only.
  ClassifierObjective(ClassifierRecipe recipe, const Dataset& train, const Dataset& val, Map black_box = {});

  torch::nn::Module& module() override { return *net_; }
  Losses losses(std::int64_t step, Share share) override;
  void after_step(std::int64_t step, Communicator& communicator) override { adaptive_.after_step(step, communicator); }
  Validation validate() override;
  std::map<std::string, std::string> metadata() const override;
  std::map<std::string, Tensor> state() const override { return adaptive_.state(); }
  void restore(const std::map<std::string, Tensor>& state) override { adaptive_.restore(state); }

 private:
  Tensor task_part(const Batch& batch, const Tensor& y);

  ClassifierRecipe recipe_;
  const Dataset& val_;
  Map black_box_;
  Task task_;
  LabelledBatches batches_;
  AdaptiveWeights adaptive_;
  std::shared_ptr<Spnn> net_;
};

// Means over the elements: ‖x − g†(g(x))‖² over the first `count` images.
double stability_over(const Dataset& dataset, const Spnn& net, const std::string& r_set, std::int64_t count);

}  // namespace spnn
