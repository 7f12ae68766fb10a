#pragma once

#include <spnn/core/shape.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>

namespace spnn::testing {

// The full Jacobian of f at x (a batch of one), row by row of the output: [outputs, inputs].
inline Tensor jacobian(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  const auto in = x.detach().clone().requires_grad_(true);
  const auto out = f(in).flatten();
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const auto row = torch::autograd::grad({out[i]}, {in}, {}, /*retain_graph=*/true, /*create_graph=*/false,
                                           /*allow_unused=*/true)[0];
    rows.push_back(row.defined() ? row.flatten() : torch::zeros({in.numel()}, in.options()));
  }
  return torch::stack(rows);
}

inline double log_abs_det(const Tensor& matrix) { return std::get<1>(torch::slogdet(matrix)).item<double>(); }

}  // namespace spnn::testing
