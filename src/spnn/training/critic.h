#pragma once

#include <spnn/core/config.h>
#include <spnn/core/rng.h>
#include <spnn/layers/layers.h>
#include <spnn/training/communicator.h>
#include <spnn/training/optimizer.h>

#include <memory>
#include <vector>

namespace spnn {

struct CriticConfig {
  std::vector<std::int64_t> widths = {48, 96, 128};   // channels at 1/2, 1/4, 1/8 … of the image's side
  double lr = 4e-4;
  double r1 = 5;               // weight of ‖∇D(x)‖² of photos, D the mean over patches
  std::int64_t r1_every = 8;   // taken so seldom and as many times as heavy

  friend bool operator==(const CriticConfig&, const CriticConfig&) = default;
};

void to_json(Json& json, const CriticConfig& config);
void from_json(const Json& json, CriticConfig& config);

// Tells photos from moved images, patch by patch: above 0 is a photo. Plain convolutions, because the penalty needs second derivatives.
class Critic : public torch::nn::Module {
 public:
  Critic(const CriticConfig& config, std::int64_t channels);   // all weights zero

  struct Opinion {
    Tensor patches;                  // [B, 1, h, w]
    std::vector<Tensor> features;    // after every layer
  };
  Opinion look(const Tensor& x) const;

 private:
  std::vector<std::shared_ptr<Conv2d>> layers_;
  std::shared_ptr<Conv2d> head_;
};

// A critic and its training beside a network's: hinge loss, and every so often the penalty. Its weights take no gradient in between.
class CriticTraining {
 public:
  CriticTraining(const CriticConfig& config, std::int64_t channels, const Rng& rng);

  const Critic& critic() const { return *critic_; }

  // What the trained network minimises: −D of moved images; and how far the mean features of the two are apart.
  Tensor doubt(const Tensor& moved) const { return -critic_->look(moved).patches.mean(); }
  Tensor feature_distance(const Tensor& photos, const Tensor& moved) const;

  // One step of the critic's own, with gradients averaged over all processes. Returns its loss.
  double step(std::int64_t step, const Tensor& photos, const Tensor& moved, Communicator& communicator);
  Tensor loss(const Tensor& photos, const Tensor& moved, bool penalised) const;

  std::map<std::string, Tensor> state() const;
  void restore(const std::map<std::string, Tensor>& state);

 private:
  CriticConfig config_;
  std::shared_ptr<Critic> critic_;
  std::vector<Tensor> parameters_;
  Optimizer optimizer_;
};

}  // namespace spnn
