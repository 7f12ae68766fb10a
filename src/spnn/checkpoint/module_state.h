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

// A weight [out, in, …] or bias [out] of a narrow net in the place of the first channels of a wider one's `initial` values. ensures: a chain
// of layers that are all widened so computes what the narrow chain did (old outputs see nothing of new inputs), and new channels can learn.
// requires: no dimension of `narrow` above that of `initial`, the number of dimensions and all but the first two equal.
Tensor widened(const Tensor& narrow, const Tensor& initial);

// The same comparison against a wanted list of shapes; empty when they agree.
std::string mismatch(const std::map<std::string, std::vector<std::int64_t>>& wanted,
                     const std::map<std::string, Tensor>& found);

}  // namespace spnn
