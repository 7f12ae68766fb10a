#pragma once

#include <torch/types.h>

namespace spnn {

using torch::Tensor;

enum class NormActivation { none, silu };

struct GroupNormOptions {
  std::int64_t groups = 32;
  double eps = 1e-6;
  NormActivation activation = NormActivation::none;
};

// act(torch::group_norm(x, groups, weight, bias, eps)), differentiable. Contiguous float32 on the CPU is done in one
// read for the moments and one read and write, and so is the gradient; everything else goes through torch. Image i of
// the result does not depend on the batch, and no result depends on the number of threads.
Tensor group_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, const GroupNormOptions& options);

// group_norm(torch::cat({x, more}, 1), …). Without gradients nothing is concatenated before.
Tensor group_norm_joined(const Tensor& x, const Tensor& more, const Tensor& weight, const Tensor& bias,
                         const GroupNormOptions& options);

// silu(group_norm(x)).
Tensor group_norm_silu(const Tensor& x, std::int64_t groups, const Tensor& weight, const Tensor& bias, double eps);

}  // namespace spnn
