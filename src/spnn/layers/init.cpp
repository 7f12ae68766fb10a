#include <spnn/layers/init.h>

namespace spnn {

void initialise(torch::nn::Module& module, const Rng& rng, double gain) {
  torch::NoGradGuard no_grad;
  std::uint64_t k = 0;
  for (auto& item : module.named_parameters()) {
    auto& value = item.value();
    const auto stream = rng.fork(k++);
    if (value.dim() < 2) continue;
    const auto fan_in = value[0].numel();
    const auto bound = gain * std::sqrt(3.0 / static_cast<double>(fan_in));
    value.copy_((stream.uniform(value.sizes(), torch::kFloat64) * 2 - 1) * bound);
  }
}

void zero_(torch::nn::Module& layer) {
  torch::NoGradGuard no_grad;
  for (auto& value : layer.parameters()) value.zero_();
}

std::int64_t parameter_count(const torch::nn::Module& module) {
  std::int64_t count = 0;
  for (const auto& value : module.parameters()) count += value.numel();
  return count;
}

}  // namespace spnn
