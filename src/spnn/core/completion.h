#pragma once

#include <torch/types.h>

#include <vector>

namespace spnn {

using torch::Tensor;

// G(x) = [g(x) | q(x)]: the output together with what each block discarded (blocks without a z have none).
// Completions of one network form a vector space: + − and scalar · act part by part.
struct Completion {
  Tensor y;
  std::vector<Tensor> z;
};

Completion operator+(const Completion& a, const Completion& b);
Completion operator-(const Completion& a, const Completion& b);
Completion operator*(const Tensor& lambda, const Completion& a);   // λ: a number or one per image
Completion operator*(double lambda, const Completion& a);

// ‖·‖² per image, over y and all z.
Tensor squared_norm(const Completion& a);

// λ as a tensor that broadcasts over `like`: a scalar stays one, a [B] vector becomes [B, 1, …].
Tensor broadcast_over(const Tensor& lambda, const Tensor& like);

}  // namespace spnn
