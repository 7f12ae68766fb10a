#pragma once

#include <torch/types.h>

#include <cstdint>

namespace spnn {

using torch::Tensor;

// Mean and covariance of features, in double. The estimate is the plain unbiased one.
struct Gaussian {
  Tensor mean;         // [F]
  Tensor covariance;   // [F, F]
  std::int64_t count = 0;
};

// requires: features [N, F], N ≥ 2.
Gaussian gaussian_of(const Tensor& features);

// ‖μ_a − μ_b‖² + tr(Σ_a + Σ_b − 2 (Σ_a^½ Σ_b Σ_a^½)^½), by symmetric eigendecompositions.
// From samples it is biased upwards, the more the fewer there are (roughly like 1/N, and strongly when N is below the
// number of features): compare only figures of equal N against the same reference.
double frechet_distance(const Gaussian& a, const Gaussian& b);

}  // namespace spnn
