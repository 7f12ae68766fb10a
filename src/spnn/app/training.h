#pragma once

#include <string>

namespace spnn::app {

// What all trainers are given: a configuration, data, and where the run lives.
struct TrainJob {
  std::string config;   // a TOML or JSON file
  std::string data;     // a data set: tar, folder, or a known name
  std::string run;      // the run directory
  bool resume = false;
};

}  // namespace spnn::app
