#pragma once

#include <spnn/checkpoint/guidance_windows.h>
#include <spnn/networks/spnn.h>
#include <spnn/training/adaptive_weights.h>
#include <spnn/training/labelled_batches.h>
#include <spnn/data/task.h>
#include <spnn/training/train_config.h>

namespace spnn {

// λ of phase I. Every squared norm is a mean over the elements.
struct PhaseOneLosses {
  double task = 1;
  double surjectivity = 0;   // ‖y − g(g†(y))‖²: zero but for rounding, and costs two passes
  double stability = 0;      // ‖x − g†(g(x))‖²: costs an inverse pass
  double regression = 0;     // Σ_l ‖z_l − r_l(y_l)‖²: no further pass; its gradient also turns U towards discarding
                             // what y predicts
  double range = 0;          // how far NLBP onto another image's outputs leaves [−1, 1]: costs an inverse pass
};

// Phase I: s, t, U and r together (design.md, section 4).
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

// ‖max(|x'| − 1, 0)‖² of x' = G_r⁻¹([g(x_{i+1}) | q_r(x_i)]), each image of a batch moved onto the outputs of the next in
// the residual metric. A classifier is nowhere asked for more than its labels; guidance asks for such x', and without
// this term the stack is free to stretch them by e^(bL).
Tensor range_loss(const Spnn& net, const Spnn::Trace& trace, const Spnn::RSet& r);

// Every n-th image of a trace.
Spnn::Trace every_nth(const Spnn::Trace& trace, std::int64_t n);

// Σ_l ‖z_l − r_l(y_l)‖² with gradients into whatever made the trace.
Tensor regression_loss(const std::vector<Spnn::Level>& levels, const Spnn::RSet& r);

}  // namespace spnn
