#pragma once

#include <spnn/training/communicator.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace spnn {

struct ProcessGroupConfig {
  std::int64_t rank = 0;
  std::int64_t size = 1;
  std::filesystem::path run = {};      // the run directory, where the processes find each other (rendezvous.h)
  bool one_machine = true;             // Gloo listens on the loopback only; otherwise on the host's own address
  double timeout_seconds = 1800;       // a validation on rank 0 may keep the others waiting
  std::function<bool()> cancelled = [] { return false; };
};

// Joins the group over c10d's Gloo. Returns when all processes are there. A process that dies makes the next average(),
// gather() or barrier() of the others throw. So does one that does not answer within ten seconds of an interruption.
std::unique_ptr<Communicator> join_process_group(const ProcessGroupConfig& config);

}  // namespace spnn
