#pragma once

#include <torch/nn/module.h>

#include <map>
#include <string>

namespace spnn {

using torch::Tensor;

// Parameters and buffers by name: detached aliases of the module's own memory (clone them to keep a moment).
std::map<std::string, Tensor> state_of(const torch::nn::Module& module);

// Copies by name into the module, converting the type. All or nothing: missing, unexpected and wrong-shape
// tensors are listed in one error and leave the module as it was.
void load_into(torch::nn::Module& module, const std::map<std::string, Tensor>& tensors,
               const std::string& where);

// The same comparison against a wanted list of shapes; empty when they agree.
std::string mismatch(const std::map<std::string, std::vector<std::int64_t>>& wanted,
                     const std::map<std::string, Tensor>& found);

}  // namespace spnn
