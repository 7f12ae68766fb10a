#pragma once

#include <spnn/core/config.h>
#include <spnn/core/rng.h>
#include <spnn/training/objective.h>

namespace spnn {

// What an image may have suffered before a network sees it. The gradient of a network that was trained through noise looks like the
// attribute that it is taken for; that of one that was not looks like grain.
struct DisturbConfig {
  double share = 1;   // of the images; the others stay as they are
  double noise = 0;   // the standard deviation of white noise is drawn from [0, noise], an image at a time (pixels in [−1, 1])
  double blur = 0;    // in [0, 1]: the image goes up to so far towards its mean over 5×5 pixels

  bool enabled() const { return share > 0 && (noise > 0 || blur > 0); }
  friend bool operator==(const DisturbConfig&, const DisturbConfig&) = default;
};

void to_json(Json& json, const DisturbConfig& config);
void from_json(const Json& json, DisturbConfig& config);

// Image i of this process's share is disturbed by (rng, its number in the whole batch) only. Differentiable in x.
Tensor disturbed(const Tensor& x, const DisturbConfig& config, const Rng& rng, Share share = {});

}  // namespace spnn
