#pragma once

#include <spnn/core/config.h>
#include <spnn/data/batches.h>
#include <spnn/training/objective.h>

#include <optional>

namespace spnn {

struct AugmentConfig {
  bool flip = true;             // left–right
  std::int64_t shift = 0;       // pixels each way
  std::int64_t cutout = 0;      // the side of a grey square laid over half of the images

  friend bool operator==(const AugmentConfig&, const AugmentConfig&) = default;
};

void to_json(Json& json, const AugmentConfig& config);
void from_json(const Json& json, AugmentConfig& config);

// The training batches of a run: a pure function of (seed, step), cut into equal shares over the processes, with the next
// one prepared in a thread.
class LabelledBatches {
 public:
  struct Config {
    AugmentConfig augment;
    std::int64_t batch = 64;
    std::uint64_t seed = 0;
  };
  LabelledBatches(const Dataset& dataset, const Config& config);

  Batch get(std::int64_t step, Share share);
  std::int64_t steps_per_epoch() const { return order_.steps_per_epoch(); }

 private:
  Batch make(std::int64_t step, Share share) const;

  const Dataset& dataset_;
  Config config_;
  BatchOrder order_;
  std::optional<Share> share_;
  std::optional<Prefetcher> prefetcher_;   // for share_
};

// This process's rows of a value drawn for the whole batch.
Tensor share_of(const Tensor& whole, Share share);

}  // namespace spnn
