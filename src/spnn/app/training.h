#pragma once

#include <cstdint>
#include <string>

namespace spnn::app {

// What all trainers are given: a configuration, data, and where the run lives.
struct TrainJob {
  std::string config;   // a TOML or JSON file
  std::string data;     // a data set: tar, folder, or a known name
  std::string run;      // the run directory
  bool resume = false;
  std::int64_t steps = 0;   // instead of the configuration's; may change on a resume. 0 is the configuration's own
};

}  // namespace spnn::app
