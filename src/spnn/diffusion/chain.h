#pragma once

// The steps of a sampler one by one, for methods that take them themselves.

#include <spnn/diffusion/sampler.h>

namespace spnn {

// x_s = c0·x̂0 + ct·x_t + σ·noise: the reverse step of the chosen sampler, s < t; s = −1 gives x̂0.
struct ReverseCoefficients {
  double c0, ct, sigma;
};
ReverseCoefficients reverse_coefficients(const SamplerConfig& config, const Schedule& schedule, std::int64_t t, std::int64_t s);
Tensor reverse_step(const SamplerConfig& config, const Schedule& schedule, const Tensor& x0, const Tensor& x_t, const Tensor& noise,
                    std::int64_t t, std::int64_t s);

// One move towards the clean image.
struct ReverseMove {
  const Tensor& x_t;
  const Tensor& noise;   // of this move; undefined where s = −1
  std::int64_t t, s;     // of the training schedule, s < t
  std::uint64_t draw;    // its number among all moves: other streams of randomness are derived from it
  std::int64_t index, total;
};
// DPM-Solver++(2M) as DDIM's step with an extrapolated x̂0: D = (1 + h/2h')·x̂0 − h/2h'·x̂0', where h is the step of the half log-SNR
// ahead and h' the one behind. x̂0 is what the correction returned: the history is that of projected images. After a jump of
// time travel, and at the last step, the order is one.
class SecondOrder {
 public:
  explicit SecondOrder(const Schedule& schedule) : schedule_(schedule) {}
  Tensor extrapolated(const Tensor& x0, const ReverseMove& move);

 private:
  const Schedule& schedule_;
  Tensor last_;
  std::int64_t last_t_ = 0, last_s_ = 0;
};

using ReverseStep = std::function<Tensor(const ReverseMove&)>;

// The chain itself, with its noise, time travel, progress and interrupts; `step` makes x_s of every x_t.
Tensor walk_chain(const Shape& shape, const Schedule& schedule, const SamplerConfig& config, const ImageSeeds& seeds,
                  Observer& observer, const ReverseStep& step, const SamplerStart& start = {});

}  // namespace spnn
