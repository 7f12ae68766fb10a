#pragma once

#include <torch/types.h>

#include <functional>
#include <mutex>
#include <unordered_map>

namespace spnn::kernels {

using torch::Tensor;

// Something computed from a tensor, kept while the tensor lives and its version counter stands still. Does not keep the
// tensor alive. Safe to use from several threads.
class WeightCache {
 public:
  using Compute = std::function<Tensor(const Tensor&)>;
  Tensor get(const Tensor& weight, const Compute& compute);
  std::size_t size() const;

 private:
  struct Entry {
    c10::weak_intrusive_ptr<c10::TensorImpl> owner;
    std::uint32_t version;
    const void* data;
    Tensor value;
  };
  mutable std::mutex mutex_;
  std::unordered_map<const c10::TensorImpl*, Entry> entries_;
};

}  // namespace spnn::kernels
