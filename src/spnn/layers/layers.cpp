#include <spnn/core/errors.h>
#include <spnn/kernels/convolution.h>
#include <spnn/kernels/group_norm.h>
#include <spnn/kernels/two_by_two.h>
#include <spnn/layers/layers.h>
#include <spnn/layers/new_weights.h>

#include <ATen/Context.h>
#include <fmt/format.h>

#include <array>

namespace spnn {
namespace {

// torch::conv2d takes another algorithm for a single small image than for a batch, with other rounding. oneDNN's own
// entry does not, so that image i of a batch is the image it would be alone.
bool one_algorithm_for_all_batches(const Tensor& x) {
  return x.is_cpu() && x.scalar_type() == torch::kFloat32 && at::hasMKLDNN();
}

bool same_size_3x3(const Conv2dConfig& c) { return c.kernel == 3 && c.stride == 1 && c.padding == 1; }
bool of_2x2_maps(const Tensor& x) { return x.dim() == 4 && x.size(2) == 2 && x.size(3) == 2; }
bool pointwise(const Conv2dConfig& c) { return c.kernel == 1 && c.stride == 1 && c.padding == 0; }

}  // namespace

Conv2d::Conv2d(Conv2dConfig config) : config_(config) {
  require(config.in > 0 && config.out > 0, "Conv2d", "positive channel counts",
          fmt::format("{} → {}", config.in, config.out));
  weight = register_parameter("weight", new_weights({config.out, config.in, config.kernel, config.kernel}));
  bias = register_parameter("bias", new_weights({config.out}));
}

Tensor Conv2d::forward(const Tensor& x) const {
  if (same_size_3x3(config_)) return of_2x2_maps(x) ? conv3x3_of_2x2(x, weight, bias) : conv3x3(x, weight, bias);
  if (pointwise(config_)) return conv1x1(x, weight, bias);
  if (one_algorithm_for_all_batches(x)) {
    const auto pair = [](std::int64_t n) { return std::array{n, n}; };
    return at::mkldnn_convolution(x.contiguous(), weight, bias, pair(config_.padding), pair(config_.stride), pair(1), 1);
  }
  return torch::conv2d(x, weight, bias, config_.stride, config_.padding);
}

Tensor Conv2d::forward_plus(const Tensor& x, const Tensor& residual) const {
  if (same_size_3x3(config_)) return conv3x3(x, weight, bias, residual);
  if (pointwise(config_)) return conv1x1(x, weight, bias, residual);
  return forward(x) + residual;
}

Tensor Conv2d::forward_biased(const Tensor& x, const Tensor& image_bias) const {
  // [1, C] is one bias for the whole batch; the kernel reads a row per image.
  if (same_size_3x3(config_)) {
    return conv3x3(x, weight, (image_bias + bias).expand({x.size(0), config_.out}).contiguous());
  }
  return forward(x) + image_bias.unsqueeze(-1).unsqueeze(-1);
}

ConvTranspose2d::ConvTranspose2d(Conv2dConfig config) : config_(config) {
  require(config.in > 0 && config.out > 0, "ConvTranspose2d", "positive channel counts",
          fmt::format("{} → {}", config.in, config.out));
  weight = register_parameter("weight", new_weights({config.in, config.out, config.kernel, config.kernel}));
  bias = register_parameter("bias", new_weights({config.out}));
}

Tensor ConvTranspose2d::forward(const Tensor& x) const {
  return torch::conv_transpose2d(x, weight, bias, config_.stride, config_.padding);
}

Linear::Linear(std::int64_t in, std::int64_t out) {
  require(in > 0 && out > 0, "Linear", "positive sizes", fmt::format("{} → {}", in, out));
  weight = register_parameter("weight", new_weights({out, in}));
  bias = register_parameter("bias", new_weights({out}));
}

Tensor Linear::forward(const Tensor& x) const { return torch::linear(x, weight, bias); }

GroupNorm::GroupNorm(GroupNormConfig config) : config_(config) {
  require(config.channels > 0 && config.groups > 0 && config.channels % config.groups == 0, "GroupNorm",
          "channels that the groups divide", fmt::format("{} channels, {} groups", config.channels, config.groups));
  weight = register_parameter("weight", new_weights({config.channels}, 1));
  bias = register_parameter("bias", new_weights({config.channels}));
}

Tensor GroupNorm::forward(const Tensor& x) const {
  return group_norm(x, weight, bias, {.groups = config_.groups, .eps = config_.eps});
}

Tensor GroupNorm::forward_silu(const Tensor& x) const {
  return group_norm_silu(x, config_.groups, weight, bias, config_.eps);
}

}  // namespace spnn
