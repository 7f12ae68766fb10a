#pragma once

#include <cstdint>
#include <string>

namespace spnn::app {

struct SamplingOptions {
  std::int64_t steps = 50;
  std::string sampler = "ddpm";   // ddpm, ddim, reference
  double eta = 0;
  std::int64_t travel_length = 1, travel_repeat = 1;
  std::int64_t batch = 16;
};

struct SampleJob {
  std::string prior;                 // model file
  std::string output = "samples";    // a folder for PNG files; or a name ending in .png for one grid
  std::int64_t count = 16;
  std::uint64_t seed = 0;            // image i has seed + i
  SamplingOptions sampling = {.steps = 100};
};

struct SampleReport {
  std::int64_t images = 0;
  double seconds_per_image = 0;
};

}  // namespace spnn::app
