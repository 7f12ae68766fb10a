#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/core/errors.h>

namespace spnn {

Tensor mix_channels(const Tensor& matrix, const Tensor& u) {
  if (u.size(2) == 1 && u.size(3) == 1) {
    return torch::linear(u.flatten(1), matrix).unsqueeze(-1).unsqueeze(-1);
  }
  if (u.size(0) == 1) {
    return torch::mm(matrix, u.reshape({u.size(1), -1})).reshape({1, matrix.size(0), u.size(2), u.size(3)});
  }
  return torch::conv2d(u, matrix.unsqueeze(-1).unsqueeze(-1));
}

bool OrthogonalMix::wants_gradient() const { return torch::GradMode::is_enabled() && weights().requires_grad(); }

Tensor OrthogonalMix::matrix() const {
  if (!wants_gradient()) return cached();
  if (!in_scope()) return matrix_of(weights());
  if (!shared_.defined()) shared_ = matrix_of(weights());
  return shared_;
}

const Tensor& OrthogonalMix::cached() const {
  const std::lock_guard lock(mutex_);
  const auto& w = weights();
  const auto version = w.is_inference() ? 0 : static_cast<std::int64_t>(w._version());
  const bool current = cached_.defined() && cached_data_ == w.data_ptr() && cached_version_ == version &&
                       cached_.scalar_type() == w.scalar_type() && cached_.device() == w.device();
  if (!current) {
    const c10::InferenceMode off(false);   // the cache may later be part of a graph, which inference tensors cannot
    const torch::NoGradGuard no_grad;
    cached_ = matrix_of(w.detach().to(torch::kFloat64)).to(w.scalar_type()).contiguous();
    cached_data_ = w.data_ptr();
    cached_version_ = version;
  }
  return cached_;
}

Tensor OrthogonalMix::apply(const Tensor& x, bool transposed) const {
  require(x.dim() == 4 && x.size(1) == channels_, "OrthogonalMix", fmt::format("[B, {}, H, W]", channels_),
          fmt::format("{} dimensions, {} channels", x.dim(), x.dim() > 1 ? x.size(1) : 0));
  const auto U = matrix();
  return mix_channels(transposed ? U.t() : U, x);
}

std::vector<std::shared_ptr<const OrthogonalMix>> mixes_of(const torch::nn::Module& network) {
  std::vector<std::shared_ptr<const OrthogonalMix>> mixes;
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto mix = std::dynamic_pointer_cast<const OrthogonalMix>(module)) mixes.push_back(std::move(mix));
  }
  return mixes;
}

MixScope::MixScope(const torch::nn::Module& network) : mixes_(mixes_of(network)) {
  for (const auto& mix : mixes_) ++mix->scope_depth_;
}

MixScope::~MixScope() {
  for (const auto& mix : mixes_) {
    if (--mix->scope_depth_ == 0) mix->forget_shared();
  }
}

}  // namespace spnn
