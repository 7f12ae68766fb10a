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
  std::string from = {};    // a model of this architecture to start from; "" starts anew
  std::int64_t steps = 0;   // instead of the configuration's; may change on a resume. 0 is the configuration's own
};

struct ClassifierJob : TrainJob {
  std::string black_box;    // a model whose outputs g learns instead of the labels; "" for none
};

struct InverseJob : TrainJob {
  std::string model;        // the SPNN of phase I
};

}  // namespace spnn::app
