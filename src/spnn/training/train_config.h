#pragma once

#include <spnn/core/config.h>

#include <cstdint>

namespace spnn {

struct TrainConfig {
  std::int64_t steps = 1000;
  std::int64_t batch = 64;
  double lr = 2e-4;
  double beta1 = 0.9, beta2 = 0.999;
  double weight_decay = 0;
  double clip = 1.0;                  // of the gradient's norm; 0 is none
  std::int64_t warmup = 200;          // steps of linear rise
  double decay_from = 1.0;            // the share of the steps after which the rate falls
  std::string decay = "linear";       // linear or cosine, to zero
  std::string precision = "float";    // or bfloat16: products of convolutions, where the CPU has tile registers (AMX)
  double ema = 0;                     // of the weights; 0 is none
  std::uint64_t seed = 556;
  std::int64_t validate_every = 500;
  std::int64_t checkpoint_every = 100;
};

void to_json(Json& json, const TrainConfig& config);
void from_json(const Json& json, TrainConfig& config);

// The learning rate of a step: warm-up, plateau, decay.
double learning_rate(const TrainConfig& config, std::int64_t step);

}  // namespace spnn
