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

// What the critic is asked about: square images, and how many wishes there are (0: it judges photos only).
struct CriticInput {
  std::int64_t channels = 3;
  std::int64_t image_size = 64;
  std::int64_t wishes = 0;
};

// Tells photos from moved images, patch by patch (above 0 is a photo), and an image that has what was wished for from one that has not, wish
// by wish. Plain convolutions, because the penalty needs second derivatives.
class Critic : public torch::nn::Module {
 public:
  Critic(const CriticConfig& config, const CriticInput& input);   // all weights zero

  struct Opinion {
    Tensor patches;                  // [B, 1, h, w]
    Tensor wishes;                   // [B, A], undefined without wishes
    std::vector<Tensor> features;    // after every layer
  };
  Opinion look(const Tensor& x) const;

 private:
  std::vector<std::shared_ptr<Conv2d>> layers_;
  std::shared_ptr<Conv2d> head_;
  std::shared_ptr<Linear> wishes_;   // of the features at their places: faces are aligned
};

// How well an image meets a wish of ±1 (yes, no) and 0 (nothing asked): the mean over what was asked. [B]
Tensor met(const Critic::Opinion& opinion, const Tensor& wish);

// What a step of the critic sees. Photos are real images that have what was wished for: if they were any others, a hat would be a sign of a
// moved image, and the network would learn to hide it.
struct CriticSample {
  Tensor photos;   // [B, C, H, W]
  Tensor moved;
  Tensor before;   // what the moved images were: real, without what was wished for
  Tensor wish;     // [B, A]
};

// A critic and its training beside a network's: hinge loss, and every so often the penalty. Its weights take no gradient in between.
class CriticTraining {
 public:
  CriticTraining(const CriticConfig& config, const CriticInput& input, const Rng& rng);

  const Critic& critic() const { return *critic_; }

  // What the trained network minimises: −D of moved images; that their wishes are not met; how far the mean features of the two are apart.
  Tensor doubt(const Critic::Opinion& moved) const { return -moved.patches.mean(); }
  Tensor unmet(const Critic::Opinion& moved, const Tensor& wish) const { return -met(moved, wish).mean(); }
  Tensor feature_distance(const Tensor& photos, const Critic::Opinion& moved) const;

  // One step of the critic's own, with gradients averaged over all processes. Returns its loss.
  double step(std::int64_t step, const CriticSample& sample, Communicator& communicator);
  Tensor loss(const CriticSample& sample, bool penalised) const;

  std::map<std::string, Tensor> state() const;
  void restore(const std::map<std::string, Tensor>& state);

 private:
  CriticConfig config_;
  CriticInput input_;
  std::shared_ptr<Critic> critic_;
  std::vector<Tensor> parameters_;
  Optimizer optimizer_;
};

}  // namespace spnn
