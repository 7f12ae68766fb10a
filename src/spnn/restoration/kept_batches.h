#pragma once

#include <spnn/core/io.h>
#include <spnn/core/observer.h>

#include <torch/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace spnn {

using torch::Tensor;

struct KeptConfig {
  std::filesystem::path folder;                 // processes of several machines share it
  std::string work = {};                        // what the batches are of: a folder that was begun for other work is refused
  std::int64_t rank = 0, size = 1;
  std::chrono::milliseconds patience{10'000};   // a process that is away for so long is gone
};

// The batches of a long work, each kept in a file as soon as it is made. An interrupted work goes on where it was, and several
// processes divide one: of every stage, process r makes the batches r, r + size, …, and all processes get all of them.
class KeptBatches {
 public:
  using Batch = std::vector<Tensor>;
  using Make = std::function<Batch(std::int64_t first, std::int64_t last)>;        // images first … last − 1
  using Take = std::function<void(std::int64_t first, const Batch& batch)>;

  // Throws where another process has this rank, or the folder is of other work.
  explicit KeptBatches(KeptConfig config);

  // The next stage: `count` images, so many a batch; all processes run the same stages in the same order. `take` gets every batch, in
  // order. Where a process is gone the others make their own batches to the end and throw: which images are missing.
  void run(std::int64_t count, std::int64_t batch, Observer& observer, const Make& make, const Take& take);

 private:
  struct Stage;
  std::filesystem::path lock_of(std::int64_t rank) const;
  void wait_for(const Stage& stage, std::int64_t number, Observer& observer) const;
  [[noreturn]] void report_missing(const Stage& stage, std::int64_t gone) const;

  KeptConfig config_;
  FileLock alive_;
  std::int64_t stages_ = 0;
};

// How many images a batch has, and where batches are kept (nowhere: they are made and taken one after the other).
struct Batching {
  std::int64_t size = 16;
  std::shared_ptr<KeptBatches> kept = {};
};
void in_batches(std::int64_t count, const Batching& batching, Observer& observer, const KeptBatches::Make& make, const KeptBatches::Take& take);

}  // namespace spnn
