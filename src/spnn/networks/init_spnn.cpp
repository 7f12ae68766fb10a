#include <spnn/blocks/householder_mix.h>
#include <spnn/networks/spnn.h>
#include <spnn/networks/subnets.h>

namespace spnn {

void initialise_spnn(Spnn& net, const Rng& rng) {
  const torch::NoGradGuard no_grad;
  std::uint64_t k = 0;
  for (const auto& module : net.modules(/*include_self=*/false)) {
    if (auto* subnet = dynamic_cast<Subnet*>(module.get())) initialise_subnet(*subnet, rng.fork(k++));
    if (auto* mix = dynamic_cast<HouseholderMix*>(module.get())) {
      const auto& V = mix->weights();
      Tensor(V).copy_(rng.fork(k++).randn(V.sizes()));
    }
  }
}

// Sizes as of a trained network: U far from the identity, s, t and r of order ⅓. (With s of order 1 everywhere a level
// stretches by up to e², six of them by e¹², and what a test then sees is the conditioning of a monster.)
void randomise_spnn(Spnn& net, const Rng& rng) {
  const torch::NoGradGuard no_grad;
  std::uint64_t k = 0;
  for (const auto& item : net.named_parameters()) {
    Tensor value = item.value();
    const auto noise = rng.fork(k++).uniform(value.sizes(), torch::kFloat64) * 2 - 1;
    if (item.key().ends_with("A_unconstrained")) {
      value.copy_(noise * (0.5 / std::sqrt(static_cast<double>(value.size(0)))));
    } else if (value.dim() >= 2) {
      value.copy_(noise * (1.5 / std::sqrt(static_cast<double>(value[0].numel()))));
    } else {
      value.copy_(item.key().ends_with("bias") ? noise * 0.05 : 1 + noise * 0.1);
    }
  }
  for (const auto& module : net.modules(/*include_self=*/false)) {
    auto* subnet = dynamic_cast<Subnet*>(module.get());
    if (subnet == nullptr) continue;
    for (auto& value : subnet->last_layer().parameters()) value.mul_(0.3);
  }
}

}  // namespace spnn
