#pragma once

#include <torch/types.h>

#include <cstdint>

namespace spnn {

using torch::Tensor;

// Randomness is an argument. An Rng is a seed; `fork` derives independent ones by number, so that image i, step k or
// epoch e always sees the same numbers whatever else was drawn: nothing has to be saved for an exact resume.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : seed_(seed) {}

  Rng fork(std::uint64_t stream) const;
  std::uint64_t seed() const { return seed_; }
  at::Generator generator() const;   // a fresh torch generator at the start of this seed's sequence

  Tensor randn(torch::IntArrayRef sizes, torch::TensorOptions options = torch::kFloat32) const;
  Tensor uniform(torch::IntArrayRef sizes, torch::TensorOptions options = torch::kFloat32) const;   // [0, 1)
  Tensor permutation(std::int64_t n) const;

  // Noise for a batch in which image i depends on (seed, first + i) only. sizes[0] is the batch.
  Tensor randn_per_image(torch::IntArrayRef sizes, std::uint64_t first = 0,
                         torch::TensorOptions options = torch::kFloat32) const;

 private:
  std::uint64_t seed_;
};

}  // namespace spnn
