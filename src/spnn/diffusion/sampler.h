#pragma once

#include <spnn/core/observer.h>
#include <spnn/core/rng.h>
#include <spnn/diffusion/denoiser.h>
#include <spnn/diffusion/sampler_kind.h>

#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace spnn {

struct SamplerConfig {
  SamplerKind kind = SamplerKind::ddpm;
  std::int64_t steps = 100;
  double eta = 0;            // of DDIM
  Spacing spacing = Spacing::uniform;
  TimeTravel travel = {};
  bool clamp = true;         // x̂0 to [−1, 1]
  torch::Device device = torch::kCPU;   // of the prior; a photo to start from decides by itself
};

// A seed per image: what an image becomes does not depend on the batch it is in.
class ImageSeeds {
 public:
  explicit ImageSeeds(std::vector<std::uint64_t> seeds) : seeds_(std::move(seeds)) {}
  ImageSeeds(std::uint64_t first, std::int64_t count);

  std::int64_t size() const { return static_cast<std::int64_t>(seeds_.size()); }
  Tensor noise(const Shape& shape, std::uint64_t draw, torch::TensorOptions options) const;
  std::uint64_t of(std::int64_t image) const { return seeds_[static_cast<std::size_t>(image)]; }
  const std::vector<std::uint64_t>& all() const { return seeds_; }
  ImageSeeds slice(std::int64_t from, std::int64_t to) const;
  ImageSeeds chosen(const Tensor& which) const;   // of images [n] int64
  ImageSeeds forked(std::uint64_t stream) const;   // other seeds for another stage of the same images

 private:
  std::vector<std::uint64_t> seeds_;
};

// One denoising step as a correction sees it. The correction returns what takes the place of x̂0.
struct SamplerStep {
  const Tensor& x0_hat;
  const Tensor& x_t;
  std::int64_t t;        // of the training schedule
  std::int64_t index;    // of this denoising step, from 0
  std::int64_t total;
};
using Correction = std::function<Tensor(const SamplerStep&)>;

// Where the chain begins: pure noise at its top, or a photo noised to the last respaced time below `time`.
struct SamplerStart {
  Tensor photo;                                                      // undefined: noise
  std::int64_t time = std::numeric_limits<std::int64_t>::max();      // above all: the top
};

// ensures: image i depends on seeds[i], the prior, the configuration and the correction only. Throws Interrupted when
// the observer cancels.
Tensor sample(const Denoiser& prior, const SamplerConfig& config, const ImageSeeds& seeds, Observer& observer,
              const Correction& correction = {}, const SamplerStart& start = {});

// How many network evaluations such a run makes.
std::int64_t evaluations(const SamplerConfig& config, const Schedule& schedule, std::int64_t start_time = SamplerStart().time);

}  // namespace spnn
