#pragma once

#include <spnn/core/config.h>
#include <spnn/training/communicator.h>

namespace spnn {

struct AdaptiveWeightsConfig {
  bool enabled = false;
  std::int64_t every = 50;   // steps between two changes of the weights; the first comes after as many
  double power = 0.5;        // w_a ∝ (running loss of a)^power
  double limit = 3;          // no weight is more than so many times, or less than that part of, the mean
};

void to_json(Json& json, const AdaptiveWeightsConfig& config);
void from_json(const Json& json, AdaptiveWeightsConfig& config);

// Weights of attributes that follow how hard each is: what is learnt already gives way to what is not. Mean 1.
class AdaptiveWeights {
 public:
  AdaptiveWeights(std::int64_t attributes, const AdaptiveWeightsConfig& config);

  const Tensor& weights() const { return weights_; }   // [A]; all ones when not enabled

  void observe(const Tensor& losses) { latest_ = losses.detach().clone(); }   // [A], this process's share of the batch
  void after_step(std::int64_t step, Communicator& communicator);

  std::map<std::string, Tensor> state() const;
  void restore(const std::map<std::string, Tensor>& state);

 private:
  AdaptiveWeightsConfig config_;
  Tensor weights_, running_, latest_;
};

}  // namespace spnn
