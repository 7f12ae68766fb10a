#pragma once

// What several benchmarks measure and how they read it.

#include <spnn/core/errors.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace spnn::bench {

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// VmHWM, the largest resident size so far, in MB.
inline double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

// What `command` prints of its own peak: contestants of one process would share it.
inline double peak_in_own_process(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  double megabytes = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &megabytes) != 1) fail("benchmark", "a peak from " + command, "none");
  pclose(pipe);
  return megabytes;
}

}  // namespace spnn::bench
