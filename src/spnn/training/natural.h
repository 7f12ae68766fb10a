#pragma once

#include <spnn/checkpoint/guidance_windows.h>
#include <spnn/networks/judge.h>
#include <spnn/networks/spnn.h>
#include <spnn/training/critic.h>
#include <spnn/training/disturb.h>
#include <spnn/training/labelled_batches.h>
#include <spnn/training/move_targets.h>
#include <spnn/data/task.h>
#include <spnn/training/train_config.h>

namespace spnn {

// λ of phase III. Every squared norm is a mean over the elements.
struct NaturalLosses {
  double task = 1;
  double memory = 0;         // BCE(g(x), what an earlier network says of x): accuracy that the moves shall not cost
  double regression = 0.3;   // Σ_l ‖z_l − r_l(y_l)‖², over the images that are moved
  double stability = 1;      // ‖x − g†(g(x))‖²
  double range = 10;         // ‖max(|x'| − 1, 0)‖²
  double teacher = 1.5;      // BCE(T(x'), wanted)
  double critic = 0.4;       // −D(x')
  double wish = 0;           // that the critic, shown real images with and without it, does not find in x' what was set
  double features = 0;       // between the critic's mean features of x' and of x
  double closeness = 2;      // ‖x' − x‖² where attributes were set
  double sparsity = 0.5;     // |x' − x| there, of pixels and of means over 4×4 of them: only what must change does
};

// Phase III: all of g and r, asked what x' = NLBP(x, y') looks like, in the residual metric: one forward and one inverse pass. From
// scratch it is phase I as well: losses on moves set in at `natural_from` and rise over `natural_ramp` steps.
struct NaturalRecipe {
  SpnnConfig network;               // in a file: the name of a preset, or the whole architecture
  NaturalLosses losses;
  std::int64_t moved_every = 2;     // every so many-th image is moved; the others may be disturbed
  std::int64_t inverse_every = 4;   // stability is taken over every so many-th of the moved ones
  std::int64_t natural_from = 0;
  std::int64_t natural_ramp = 200;
  double set_weight = 12;           // of the attributes set in the teacher's loss, beside 1 for the others
  double label_smoothing = 0;
  MoveTargetsConfig targets;
  DisturbConfig disturb;            // of images that are not moved: guidance shows g such
  DisturbConfig shown{.noise = 0.5};   // of what the teacher is shown of x'
  std::int64_t shown_shift = 2;     // pixels
  CriticConfig critic;
  AugmentConfig augment;
  TrainConfig train;
  GuidanceWindows guidance;         // goes into the model's file
};

void to_json(Json& json, const NaturalRecipe& recipe);
void from_json(const Json& json, NaturalRecipe& recipe);

class NaturalObjective final : public Objective {
 public:
  // The teacher's weights are frozen. Its gradient shapes the moves, so that it must not be what judges them. `memory` is the network of
  // the memory loss; null without one.
  NaturalObjective(NaturalRecipe recipe, std::shared_ptr<Judge> teacher, const Dataset& train, const Dataset& val,
                   std::shared_ptr<const Spnn> memory = nullptr);

  torch::nn::Module& module() override { return *net_; }
  Losses losses(std::int64_t step, Share share) override;
  void after_step(std::int64_t step, Communicator& communicator) override;
  Validation validate() override;
  std::map<std::string, std::string> metadata() const override;
  std::map<std::string, Tensor> state() const override;
  void restore(const std::map<std::string, Tensor>& state) override;

 private:
  struct Moves {
    Tensor x, moved;      // the photos, and where they went
    MoveTarget target;
    Tensor photos;        // real images that have what was wished for
  };
  Tensor partly_disturbed(const Tensor& images, const Rng& rng, Share share) const;
  Tensor move(const Spnn::Trace& trace, const std::vector<Tensor>& predicted, const Tensor& y) const;
  void add_move_losses(Losses& parts, const Moves& moves, const Rng& rng, Share share, double weight) const;
  Tensor memory_loss(const Tensor& y, const Tensor& images) const;
  Tensor teacher_loss(const Moves& moves, const Rng& rng, Share share) const;
  Tensor photos_like(const MoveTarget& target, const Tensor& x, const Rng& rng) const;
  double weight_of_moves(std::int64_t step) const;

  NaturalRecipe recipe_;
  const Dataset& train_;
  const Dataset& val_;
  LabelledBatches batches_;
  MoveTargets targets_;
  std::shared_ptr<Judge> teacher_;
  std::shared_ptr<const Spnn> memory_;
  std::shared_ptr<Spnn> net_;
  CriticTraining critic_;
  CriticSample seen_;   // of the last step
};

}  // namespace spnn
