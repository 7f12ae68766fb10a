#include <spnn/core/errors.h>
#include <spnn/flows/act_norm.h>
#include <spnn/layers/new_weights.h>

namespace spnn {

ActNorm::ActNorm(const ActNormConfig& config) : FlowLayer(config.in, config.in), config_(config) {
  const auto& in = config.in;
  const std::vector<std::int64_t> sizes =
      config.per_position ? in.batched(1) : std::vector<std::int64_t>{1, in.channels, 1, 1};
  bias_ = register_parameter("bias", new_weights(sizes));
  log_scale_ = register_parameter("log_scale", new_weights(sizes));
}

Observed ActNorm::observe(const Tensor& x) const {
  require_shape(x, in_shape(), "ActNorm");
  const auto repeats = static_cast<double>(in_shape().size()) / static_cast<double>(log_scale_.numel());
  return {{(x + bias_) * torch::exp(log_scale_), {}}, per_image(log_scale_.sum() * repeats, x)};
}

Tensor ActNorm::invert(const Completion& yz) const {
  require_shape(yz.y, out_shape(), "ActNorm inverse");
  return yz.y * torch::exp(-log_scale_) - bias_;
}

void ActNorm::start_from_data(const Tensor& x) {
  const torch::NoGradGuard no_grad;
  const std::vector<std::int64_t> over =
      config_.per_position ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{0, 2, 3};
  const auto mean = x.mean(over, /*keepdim=*/true);
  const auto variance = (x - mean).square().mean(over, /*keepdim=*/true);
  bias_.copy_(-mean);
  log_scale_.copy_(-0.5 * torch::log(variance + 1e-6));
}

}  // namespace spnn
