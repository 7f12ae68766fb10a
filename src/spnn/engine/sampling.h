#pragma once

#include <cstdint>
#include <string>

namespace spnn::engine {

// Finished batches kept in a folder: an interrupted work goes on, and several processes (rank 0 … size − 1, all with the same request) divide
// it. What they make is the same as one makes, in all of them; only process 0 is to be told where files go.
struct KeptWork {
  std::string folder = {};        // empty: nothing is kept
  std::string work = {};          // in words what is done; a folder that was begun for other work is refused
  std::int64_t rank = 0, size = 1;
};

struct SamplingOptions {
  std::int64_t steps = 50;
  std::string sampler = "ddpm";   // ddpm, ddim, dpm (second order, for few steps), reference
  std::string spacing = "uniform";   // of the steps: uniform, quadratic, log-snr, rho7
  double eta = 0;
  std::int64_t travel_length = 1, travel_repeat = 1;
  std::int64_t batch = 16;
  std::int64_t detail_steps = 20;    // of the second stage, where large images are made; by DDPM (docs/cascade.md)
  KeptWork kept = {};
};

}  // namespace spnn::engine
