#pragma once

#include <spnn/training/run_directory.h>

#include <limits>

namespace spnn {

// What an exact resume needs.
struct TrainingState {
  std::map<std::string, Tensor> tensors;   // by "weights/…", "optimizer/…", "objective/…", "ema/…"
  std::int64_t step = 0;                   // how many are done
  double best = std::numeric_limits<double>::infinity();
};

// The states of a run: state.safetensors, and the one before it as state.previous.safetensors, so that a file that the disk
// has damaged leaves one to resume from.
class StateFiles {
 public:
  explicit StateFiles(const RunDirectory& run);

  bool exist() const;
  // Throws, and leaves both files alone, if a number is not finite.
  void save(const TrainingState& state);

  struct Found {
    TrainingState state;
    std::string note;   // what was wrong with the newer one; "" if this is it
  };
  Found load();

 private:
  void keep_newest() const;

  std::filesystem::path newest_, previous_;
  bool newest_is_whole_ = false;   // it was written or read here: worth keeping when the next one is written
};

// Throws Error naming the step and the tensor if a number is not finite.
void require_finite_weights(const std::map<std::string, Tensor>& tensors, std::int64_t step);

}  // namespace spnn
