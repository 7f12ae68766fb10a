#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

namespace spnn {

using torch::Tensor;

// Layers as plain modules with a const forward. Parameter names are those of torch.nn (`weight`, `bias`), so public
// checkpoints load by name. Layers are built with zeros; init.h fills them from a seed.
struct Conv2dConfig {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t padding = 1;
};

class Conv2d : public torch::nn::Module {
 public:
  explicit Conv2d(Conv2dConfig config);
  Tensor forward(const Tensor& x) const;
  Tensor forward_plus(const Tensor& x, const Tensor& residual) const;      // forward(x) + residual, like the result
  Tensor forward_biased(const Tensor& x, const Tensor& image_bias) const;  // forward(x) + image_bias [n, out] everywhere
  const Conv2dConfig& config() const { return config_; }
  Tensor weight, bias;

 private:
  Conv2dConfig config_;
};

// weight is [in, out, k, k] as in torch.
class ConvTranspose2d : public torch::nn::Module {
 public:
  explicit ConvTranspose2d(Conv2dConfig config);
  Tensor forward(const Tensor& x) const;
  Tensor weight, bias;

 private:
  Conv2dConfig config_;
};

class Linear : public torch::nn::Module {
 public:
  Linear(std::int64_t in, std::int64_t out);
  Tensor forward(const Tensor& x) const;
  Tensor weight, bias;
};

struct GroupNormConfig {
  std::int64_t channels = 0;
  std::int64_t groups = 32;
  double eps = 1e-6;
};

class GroupNorm : public torch::nn::Module {
 public:
  explicit GroupNorm(GroupNormConfig config);
  Tensor forward(const Tensor& x) const;
  Tensor forward_silu(const Tensor& x) const;   // silu(norm(x))
  const GroupNormConfig& config() const { return config_; }
  Tensor weight, bias;

 private:
  GroupNormConfig config_;
};

}  // namespace spnn
