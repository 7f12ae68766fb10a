#include <spnn/core/rng.h>

#include <ATen/CPUGeneratorImpl.h>

namespace spnn {
namespace {

// splitmix64: a bijective mixer, so distinct (seed, stream) pairs stay distinct.
std::uint64_t mix(std::uint64_t v) {
  v += 0x9e3779b97f4a7c15ULL;
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ULL;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebULL;
  return v ^ (v >> 31);
}

}  // namespace

Rng Rng::fork(std::uint64_t stream) const { return Rng(mix(seed_ ^ mix(stream + 1))); }

at::Generator Rng::generator() const { return at::detail::createCPUGenerator(seed_); }

// Numbers are drawn on the CPU in float64 or float32 and moved, so that every device sees the same ones.
Tensor Rng::randn(torch::IntArrayRef sizes, torch::TensorOptions options) const {
  return torch::randn(sizes, generator(), torch::dtype(options.dtype())).to(options.device());
}

Tensor Rng::uniform(torch::IntArrayRef sizes, torch::TensorOptions options) const {
  return torch::rand(sizes, generator(), torch::dtype(options.dtype())).to(options.device());
}

Tensor Rng::permutation(std::int64_t n) const { return torch::randperm(n, generator(), torch::kInt64); }

Tensor Rng::randn_per_image(torch::IntArrayRef sizes, std::uint64_t first, torch::TensorOptions options) const {
  std::vector<Tensor> images;
  images.reserve(static_cast<std::size_t>(sizes[0]));
  for (std::int64_t i = 0; i < sizes[0]; ++i) {
    images.push_back(fork(first + static_cast<std::uint64_t>(i)).randn(sizes.slice(1), options));
  }
  return torch::stack(images);
}

}  // namespace spnn
