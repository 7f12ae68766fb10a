#pragma once

#include <spnn/training/objective.h>

namespace spnn {

// The processes of a data-parallel run. A single process is its own communicator.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual Share share() const { return {}; }
  virtual void average(std::vector<Tensor>& /*tensors*/) {}    // in place, over all processes
  virtual void barrier() {}
  // What every process says, by rank. All say equally many numbers.
  virtual std::vector<std::vector<double>> gather(const std::vector<double>& mine) { return {mine}; }

  // Whether one of the processes says yes.
  bool any(bool mine) {
    if (share().size == 1) return mine;
    for (const auto& theirs : gather({mine ? 1.0 : 0.0})) mine = mine || theirs.front() != 0;
    return mine;
  }
};

}  // namespace spnn
