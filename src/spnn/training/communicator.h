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
};

}  // namespace spnn
