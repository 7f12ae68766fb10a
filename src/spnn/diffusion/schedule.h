#pragma once

#include <spnn/core/config.h>
#include <spnn/diffusion/sampler_kind.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spnn {

// The forward process x_t = √ᾱ_t x_0 + √(1−ᾱ_t) ε, t = 0 … T−1; ᾱ_{−1} = 1 is the clean image.
class Schedule {
 public:
  // β linear from first to last: DDPM's, and that of every public checkpoint we load.
  static Schedule linear(double first = 1e-4, double last = 2e-2, std::int64_t steps = 1000);
  // What a model file says, {"kind": "linear", "first": …, "last": …, "steps": …}, and back. Another kind is refused.
  static Schedule from_json(const Json& said, const std::string& where);
  Json to_json() const;

  std::int64_t steps() const { return static_cast<std::int64_t>(alpha_bar_.size()); }
  double alpha_bar(std::int64_t t) const { return t < 0 ? 1.0 : alpha_bar_[static_cast<std::size_t>(t)]; }
  double snr(std::int64_t t) const { return alpha_bar(t) / (1 - alpha_bar(t)); }

 private:
  double first_ = 0, last_ = 0;
  std::vector<double> alpha_bar_;
};

// The time steps of a respaced chain, ascending: k ↦ k·T/count, so that the last step is the cleanest one, t = 0.
std::vector<std::int64_t> respaced(std::int64_t train_steps, std::int64_t count);

// `count` different times, ascending. All but `uniform` begin at 0 and end at T−1.
std::vector<std::int64_t> spaced(const Schedule& schedule, std::int64_t count, Spacing spacing);

// q(x_s | x_t, x_0) of a chain that jumps from t to s < t: mean = c0·x_0 + ct·x_t, variance σ² (DDPM's fixed-small).
struct Posterior {
  double c0, ct, sigma;
};
Posterior posterior(const Schedule& schedule, std::int64_t t, std::int64_t s);

struct TimeTravel {
  std::int64_t length = 1;   // how far back a jump goes, in respaced steps
  std::int64_t repeat = 1;   // how often each stretch is walked; 1 is no travel
};

// Pairs (from, to) of indices into the respaced chain, −1 being the clean image. to < from denoises, to > from adds
// noise again (RePaint's jumps as used by DDNM).
std::vector<std::pair<std::int64_t, std::int64_t>> walk(std::int64_t count, TimeTravel travel);

}  // namespace spnn
