#pragma once

#include <spnn/core/rng.h>
#include <torch/nn/module.h>

namespace spnn::testing {

// Random values in every parameter, sized so that networks respond without saturating.
inline void fill_randomly(torch::nn::Module& module, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  std::uint64_t k = 0;
  for (auto& value : module.parameters()) {
    const auto fan_in = value.dim() > 1 ? value[0].numel() : 20;
    value.copy_(Rng(seed).fork(k++).randn(value.sizes()) / std::sqrt(static_cast<double>(fan_in)));
  }
}

}  // namespace spnn::testing
