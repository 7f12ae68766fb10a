#pragma once

#include <spnn/training/train_config.h>
#include <torch/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spnn {

using torch::Tensor;

// torch's AdamW with a state that can be stored: weight decay 0 makes it Adam.
class Optimizer {
 public:
  Optimizer(std::vector<Tensor> parameters, const TrainConfig& config);
  ~Optimizer();

  void zero_grad();
  double clip(double largest_norm);   // returns the norm before clipping
  void step(double learning_rate);

  std::map<std::string, Tensor> state() const;               // "m.0", "v.0", … and the step count
  void restore(const std::map<std::string, Tensor>& state);

 private:
  struct Adam;
  std::vector<Tensor> parameters_;
  std::unique_ptr<Adam> adam_;
};

}  // namespace spnn
