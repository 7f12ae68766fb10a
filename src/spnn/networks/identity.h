#pragma once

#include <spnn/networks/judge.h>

namespace spnn {

// Where a face lies among faces: a unit vector that is much the same for all pictures of a person and far from those of
// others. The judge's residual CNN (its `outputs` are the dimensions), made to unit length. A measure, never a guide.
class Identity : public torch::nn::Module {
 public:
  explicit Identity(const JudgeConfig& config);   // all weights zero: embeds nothing before it is initialised or loaded
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  Tensor embed(const Tensor& x) const;   // x in [−1, 1], [B, C, H, W]; [B, d] of unit length; with `mirror` the mean of both views
  Tensor look(const Tensor& x) const;    // without the mirror: for training

  const JudgeConfig& config() const { return trunk_->config(); }
  Shape in_shape() const { return trunk_->in_shape(); }

 private:
  friend void initialise_identity(Identity& net, const Rng& rng, const Tensor& faces);
  std::shared_ptr<Judge> trunk_;
};

// The judge's start, with a last layer that is not zero, and whose mean over `faces` is: all faces have much in common, and with it in every
// embedding a margin softmax begins among vectors that are all the same, and stays there.
void initialise_identity(Identity& net, const Rng& rng, const Tensor& faces);

}  // namespace spnn
