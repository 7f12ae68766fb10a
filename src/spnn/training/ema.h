#pragma once

#include <spnn/core/shape.h>

#include <vector>

namespace spnn {

// A running average of weights. It starts following closely ((1+k)/(10+k)), so that early averages are not the start.
class Ema {
 public:
  Ema(std::vector<Tensor> parameters, double decay);
  void update(std::int64_t step);
  std::vector<Tensor>& averages() { return averages_; }

 private:
  std::vector<Tensor> parameters_, averages_;
  double decay_;
};

// Puts `values` in the place of the parameters for a scope, and the parameters back bit for bit at its end.
class ScopedWeights {
 public:
  ScopedWeights(std::vector<Tensor> parameters, const std::vector<Tensor>& values);
  ~ScopedWeights();
  ScopedWeights(const ScopedWeights&) = delete;
  ScopedWeights& operator=(const ScopedWeights&) = delete;

 private:
  std::vector<Tensor> parameters_, saved_;
};

}  // namespace spnn
