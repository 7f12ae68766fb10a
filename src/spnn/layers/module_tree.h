#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <string>

namespace spnn {

// Registers `module` under a dotted path ("down.0.block.1"), making the plain modules in between, so that parameters
// get the names they have in public checkpoints. Returns the module.
void register_at_path(torch::nn::Module& root, const std::string& path, std::shared_ptr<torch::nn::Module> module);

template <class T>
std::shared_ptr<T> place(torch::nn::Module& root, const std::string& path, std::shared_ptr<T> module) {
  register_at_path(root, path, module);
  return module;
}

}  // namespace spnn
