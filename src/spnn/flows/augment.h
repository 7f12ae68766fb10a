#pragma once

#include <spnn/flows/conditional_gaussian.h>
#include <spnn/flows/flow_layer.h>

namespace spnn {

// SurVAE's slice in the other direction: the model makes [x | e] and shows x only. Upwards e ~ q(·| x), a Gaussian by a net,
//     log p(x) ≥ E_q[ log p([x | e]) − log q(e | x) ],
// a bound, tight where q is the model's own p(e | x). Gives a flow of few channels room (augmented flows).
class Augmentation final : public torch::nn::Module {
 public:
  Augmentation(const Shape& in, std::int64_t channels, std::shared_ptr<Subnet> q);

  struct Lifted {
    Tensor y;       // [x | e]
    Tensor log_p;   // −log q(e | x), [B]
  };
  Lifted lift(const Tensor& x, const Tensor& noise) const;   // noise: standard normal, of noise_shape()
  Tensor drop(const Tensor& y) const { return y.narrow(1, 0, in_.channels); }

  Shape noise_shape() const { return {channels_, in_.height, in_.width}; }
  Shape out_shape() const { return {in_.channels + channels_, in_.height, in_.width}; }

 private:
  Shape in_;
  std::int64_t channels_;
  ConditionalGaussian q_;
};

}  // namespace spnn
