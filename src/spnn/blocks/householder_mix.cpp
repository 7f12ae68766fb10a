#include <spnn/blocks/householder_mix.h>
#include <spnn/core/errors.h>
#include <spnn/layers/new_weights.h>

namespace spnn {

HouseholderMix::HouseholderMix(const HouseholderMixConfig& config) : OrthogonalMix(config.channels) {
  require(config.channels > 0 && config.reflections > 0, "HouseholderMix", "positive channels and reflections",
          fmt::format("{} and {}", config.channels, config.reflections));
  auto V = new_weights({config.reflections, config.channels});
  auto* rows = V.data_ptr<float>();
  for (std::int64_t k = 0; k < config.reflections; ++k) rows[k * config.channels + k % config.channels] = 1;
  V_ = register_parameter("V", V);
}

Tensor HouseholderMix::matrix_of(const Tensor& V) const {
  auto U = torch::eye(V.size(1), V.options());
  for (std::int64_t k = 0; k < V.size(0); ++k) {
    const auto v = V[k];
    U = U - torch::outer(torch::mv(U, v), v) * (2.0 / v.square().sum());
  }
  return U;
}

}  // namespace spnn
