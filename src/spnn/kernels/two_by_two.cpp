#include <spnn/kernels/convolution.h>
#include <spnn/kernels/two_by_two.h>
#include <spnn/kernels/weight_cache.h>

#include <spnn/core/errors.h>
#include <spnn/core/shape.h>

namespace spnn {
namespace {

// [K, C, 3, 3] ↦ [4K, 4C, 1, 1]: the entry of output (i, j) and input (i', j') is the tap (i' − i + 1, j' − j + 1).
Tensor as_dense(const Tensor& weight) {
  std::vector<std::int64_t> taps;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      for (int i_in = 0; i_in < 2; ++i_in)
        for (int j_in = 0; j_in < 2; ++j_in) taps.push_back(3 * (i_in - i + 1) + (j_in - j + 1));
  const auto k = weight.size(0), c = weight.size(1);
  return weight.flatten(2)
      .index_select(2, torch::tensor(taps, weight.options().dtype(torch::kInt64).requires_grad(false)))
      .view({k, c, 4, 4})
      .permute({0, 2, 1, 3})
      .reshape({4 * k, 4 * c, 1, 1});
}

}  // namespace

Tensor conv3x3_of_2x2(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require(x.dim() == 4 && x.size(1) == weight.size(1) && x.size(2) == 2 && x.size(3) == 2, "conv3x3_of_2x2",
          fmt::format("images of {} channels and 2×2 pixels", weight.size(1)), to_string(x.sizes()));
  static kernels::WeightCache cache;
  const bool differentiate = torch::GradMode::is_enabled() && weight.requires_grad();
  const auto dense = differentiate ? as_dense(weight) : cache.get(weight, as_dense);
  const auto y = conv1x1(x.reshape({x.size(0), 4 * x.size(1), 1, 1}), dense, bias.repeat_interleave(4));
  return y.view({x.size(0), weight.size(0), 2, 2});
}

}  // namespace spnn
