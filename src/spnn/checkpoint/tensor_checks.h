#pragma once

#include <spnn/layers/new_weights.h>

#include <map>
#include <string>

namespace spnn {

bool all_finite(const Tensor& tensor);
void require_finite(const Tensor& tensor, const std::string& where);

// What a network that these tensors fill may take (layers/new_weights.h), to be made before it is built.
class TensorBudget {
 public:
  TensorBudget(const std::map<std::string, Tensor>& tensors, const std::string& where);

 private:
  WeightBudget budget_;
};

}  // namespace spnn
