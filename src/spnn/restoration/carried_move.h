#pragma once

#include <spnn/diffusion/sampler.h>
#include <spnn/restoration/spun_move.h>

namespace spnn {

struct CarryConfig {
  std::int64_t time = 60;   // how much noise a move is seen through
  int draws = 4;            // of noise, whose mean is taken
  int rounds = 3;           // carry, move again; 0: moves are not carried
};

// What is left of the move x → x' when the prior looks at it: both images are noised alike, and the difference of what the prior takes them for
// is given to the photo,
//
//   x + mean over n of [x̂0(√ᾱ x' + √(1−ᾱ) n) − x̂0(√ᾱ x + √(1−ᾱ) n)]
//
// To first order that is √ᾱ ∂x̂0/∂x_t (x' − x) = ᾱ/(1−ᾱ) Cov(x0 | x_t) (x' − x): the move in the metric in which nlbp+ corrects. What images do
// not differ in, grain and blots, is taken away; what they do differ in stays and is completed. The photo's own detail never goes through the prior.
class CarriedMove {
 public:
  CarriedMove(const Denoiser& prior, Tensor photo, const ImageSeeds& seeds, const CarryConfig& config);
  Tensor operator()(const Tensor& moved) const;   // in [−1, 1]

 private:
  const Denoiser& prior_;
  Tensor photo_;
  std::int64_t time_;
  std::vector<Tensor> noise_, seen_;   // of each draw; what the prior takes the photo for
};

// spun_move, carried, moved again where that took the wish away: `rounds` times.
//   ensures: as spun_move. Row i depends on photo i and seed i only; a photo that is as asked stays to the bit. Throws Interrupted when the observer
//   cancels.
SpunMove carried_move(const Denoiser& prior, const BackProjector& g, const Tensor& photo, const Target& aim, const SpinConfig& spin,
                      const CarryConfig& carry, const ImageSeeds& seeds, Observer& observer);

}  // namespace spnn
