#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <mutex>

namespace spnn {

using torch::Tensor;

// u = U x over channels, U orthogonal, x = Uᵀu. U is a function of free weights only, so it is computed
//   - once per weight version for inference: in double, rounded once to the weights' type;
//   - once per training step inside a MixScope, shared by all passes, gradients flowing through it;
//   - at every use when gradients are wanted outside a scope.
class OrthogonalMix : public torch::nn::Module {
 public:
  explicit OrthogonalMix(std::int64_t channels) : channels_(channels) {}
  OrthogonalMix(const OrthogonalMix&) = delete;
  OrthogonalMix& operator=(const OrthogonalMix&) = delete;

  Tensor forward(const Tensor& x) const { return apply(x, /*transposed=*/false); }   // Ux
  Tensor inverse(const Tensor& u) const { return apply(u, /*transposed=*/true); }    // Uᵀu
  Tensor matrix() const;                                                             // U, [C, C]
  std::int64_t channels() const { return channels_; }

  // The free weights from which matrix_of makes U, in any floating type and differentiably.
  virtual const Tensor& weights() const = 0;
  virtual Tensor matrix_of(const Tensor& weights) const = 0;

 protected:
  virtual Tensor apply(const Tensor& x, bool transposed) const;
  bool in_scope() const { return scope_depth_ > 0; }
  bool wants_gradient() const;
  virtual void forget_shared() const { shared_.reset(); }

 private:
  friend class MixScope;
  const Tensor& cached() const;

  std::int64_t channels_;
  mutable std::mutex mutex_;
  mutable Tensor cached_;                        // of the weights described by the next three
  mutable const void* cached_data_ = nullptr;
  mutable std::int64_t cached_version_ = -1;
  mutable Tensor shared_;                        // with gradients, for the length of a scope
  mutable int scope_depth_ = 0;
};

// One training step: every mix below `network` computes U (or its factorisation) at most once until the end of the
// scope. Weights must not change inside. Scopes nest; they belong to the training thread.
class MixScope {
 public:
  explicit MixScope(const torch::nn::Module& network);
  ~MixScope();
  MixScope(const MixScope&) = delete;
  MixScope& operator=(const MixScope&) = delete;

 private:
  std::vector<std::shared_ptr<const OrthogonalMix>> mixes_;
};

// The mixes of a network, in order: orthogonality checks and scopes run over them.
std::vector<std::shared_ptr<const OrthogonalMix>> mixes_of(const torch::nn::Module& network);

// M u over channels for a [C', C] matrix M and u of [B, C, H, W].
Tensor mix_channels(const Tensor& matrix, const Tensor& u);

}  // namespace spnn
