#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/evaluation/frechet.h>

#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/linalg_eigvalsh.h>

namespace spnn {
namespace {

// The square root of a symmetric positive semi-definite matrix; rounding may have pushed eigenvalues below zero.
Tensor matrix_sqrt(const Tensor& matrix) {
  const auto [values, vectors] = at::linalg_eigh(matrix);
  return (vectors * values.clamp_min(0).sqrt()).matmul(vectors.t());
}

}  // namespace

Gaussian gaussian_of(const Tensor& features) {
  require(features.dim() == 2 && features.size(0) >= 2, "Fréchet distance", "features of two images or more, [N, F]",
          to_string(features.sizes()));
  const auto f = features.to(torch::kFloat64);
  const auto mean = f.mean(0);
  const auto centred = f - mean;
  return {mean, centred.t().matmul(centred) / static_cast<double>(f.size(0) - 1), f.size(0)};
}

double frechet_distance(const Gaussian& a, const Gaussian& b) {
  require(a.mean.sizes() == b.mean.sizes(), "Fréchet distance", fmt::format("{} features", a.mean.numel()),
          fmt::format("{}", b.mean.numel()));
  const auto root = matrix_sqrt(a.covariance);
  const auto product = root.matmul(b.covariance).matmul(root);
  const auto cross = at::linalg_eigvalsh((product + product.t()) / 2).clamp_min(0).sqrt().sum();
  const auto distance = (a.mean - b.mean).square().sum() + a.covariance.trace() + b.covariance.trace() - 2 * cross;
  return distance.item<double>();
}

}  // namespace spnn
