#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

namespace spnn {

using torch::Tensor;

// The memory of every weight and buffer of a network: filled with `value`, within the budget if there is one.
Tensor new_weights(torch::IntArrayRef sizes, double value = 0);

// Says that so many numbers are about to be taken; for weights that are made in another way.
void count_weights(torch::IntArrayRef sizes);

// While it lives, networks that this thread builds may take only about as much memory as the tensors of the file that is
// going to fill them: a few bytes of architecture cannot ask for gigabytes. There is room beside it, so that a file that
// merely lacks a tensor is told which.
class WeightBudget {
 public:
  WeightBudget(std::uint64_t numbers, std::uint64_t tensors, std::string where);
  ~WeightBudget();
  WeightBudget(const WeightBudget&) = delete;
  WeightBudget& operator=(const WeightBudget&) = delete;

 private:
  friend void count_weights(torch::IntArrayRef);
  WeightBudget* outer_;
  std::uint64_t left_, most_;
  std::string where_;
};

}  // namespace spnn
