#pragma once

// The largest resident size of this process since the last call of `restart`, in MB; 0 where the system does not say. Internal to jobs/.

#include <fstream>
#include <string>

namespace spnn::engine {

struct PeakMemory {
  static void restart() { std::ofstream("/proc/self/clear_refs") << "5"; }

  static double megabytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
    }
    return 0;
  }
};

}  // namespace spnn::engine
