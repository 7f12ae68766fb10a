#pragma once

#include <cstdint>
#include <string>

namespace spnn::engine {

struct SamplingOptions {
  std::int64_t steps = 50;
  std::string sampler = "ddpm";   // ddpm, ddim, dpm (second order, for few steps), reference
  std::string spacing = "uniform";   // of the steps: uniform, quadratic, log-snr, rho7
  double eta = 0;
  std::int64_t travel_length = 1, travel_repeat = 1;
  std::int64_t batch = 16;
  std::int64_t detail_steps = 20;    // of the second stage, where large images are made; by DDPM (docs/cascade.md)
};

}  // namespace spnn::engine
