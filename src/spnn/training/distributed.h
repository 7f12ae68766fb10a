#pragma once

#include <spnn/training/communicator.h>

#include <memory>
#include <string>

namespace spnn {

struct ProcessGroupConfig {
  std::int64_t rank = 0;
  std::int64_t size = 1;
  std::string address = "127.0.0.1";   // of the process with rank 0
  std::int64_t port = 29500;
  double timeout_seconds = 1800;       // a validation on rank 0 may keep the others waiting
};

// Joins the group over c10d's Gloo: TCP between any machines. Returns when all processes are there. A process that
// dies makes the next average() or barrier() of the others throw.
std::unique_ptr<Communicator> join_process_group(const ProcessGroupConfig& config);

}  // namespace spnn
