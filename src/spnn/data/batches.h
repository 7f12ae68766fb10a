#pragma once

#include <spnn/core/rng.h>
#include <spnn/data/dataset.h>

#include <functional>
#include <future>

namespace spnn {

// Which images step k trains on: every epoch a new permutation, cut into batches, the incomplete last one
// left out. A pure function of (seed, step), so a resumed run needs nothing but its step number. Processes of
// a parallel run take their share with indices(step).chunk(world)[rank].
class BatchOrder {
 public:
  BatchOrder(std::int64_t images, std::int64_t batch, std::uint64_t seed);

  std::int64_t batch() const { return batch_; }
  std::int64_t steps_per_epoch() const { return images_ / batch_; }
  std::int64_t epoch(std::int64_t step) const { return step / steps_per_epoch(); }
  Tensor indices(std::int64_t step) const;  // [batch] int64

 private:
  std::int64_t images_, batch_;
  Rng rng_;
};

struct Augment {
  bool flip = false;       // left–right, for half of the images
  std::int64_t shift = 0;  // up to so many pixels each way; border pixels are repeated
};

struct Batch {
  Tensor images = {};  // float [−1, 1], [B, C, H, W]
  Tensor labels = {};
  Tensor indices = {};
};

// Image i is augmented by (rng, i) only: the result does not depend on how a batch is cut over processes.
// Pass rng.fork(step).
Batch make_batch(const Dataset& dataset, const Tensor& indices, const Augment& augment, const Rng& rng);
Batch make_batch(const Dataset& dataset, const Tensor& indices);  // as they are, for evaluation

// Prepares batch k + 1 in a thread while k is used. `make` must be a pure function of the step; then what
// `get` returns never depends on timing, nor on whether steps come in order.
class Prefetcher {
 public:
  explicit Prefetcher(std::function<Batch(std::int64_t step)> make) : make_(std::move(make)) {}
  Batch get(std::int64_t step);

 private:
  std::function<Batch(std::int64_t)> make_;
  std::int64_t next_ = -1;
  std::future<Batch> prepared_;  // its destructor waits for the thread
};

}  // namespace spnn
