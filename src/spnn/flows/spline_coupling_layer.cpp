#include <spnn/core/errors.h>
#include <spnn/flows/spline_coupling_layer.h>

#include <cmath>
#include <tuple>

namespace spnn {
namespace {

// The least share of a piece of a uniform one, and the least slope: both directions stay well conditioned.
constexpr double kLeast = 1e-2;

// softplus, shifted so that 0 gives 1.
Tensor slope_of(const Tensor& raw) {
  const double at_zero = std::log(std::expm1(1 - kLeast));
  return kLeast + torch::softplus(raw + at_zero);
}

}  // namespace

SplineCouplingLayer::SplineCouplingLayer(const CouplingLayerConfig& config, const SplineShape& shape,
                                         std::shared_ptr<Subnet> net)
    : CouplingLayer(config, std::move(net)), shape_(shape) {
  require(shape.pieces > 1 && shape.bound > 0, "SplineCouplingLayer", "two pieces or more and a positive bound",
          fmt::format("{} and {}", shape.pieces, shape.bound));
}

Tensor SplineCouplingLayer::knots(const Tensor& raw) const {
  const auto share = kLeast / static_cast<double>(shape_.pieces) + (1 - kLeast) * torch::softmax(raw, -1);
  const auto from_left = torch::cat({torch::zeros_like(share.narrow(-1, 0, 1)), torch::cumsum(share, -1)}, -1);
  return shape_.bound * (2 * from_left - 1);
}

MonotoneSpline SplineCouplingLayer::spline(const Tensor& theta) const {
  const auto K = shape_.pieces;
  const auto [B, H, W] = std::tuple(theta.size(0), theta.size(2), theta.size(3));
  const auto per_entry = theta.reshape({B, -1, outputs_per_channel(shape_), H, W}).movedim(2, -1);   // [B, C, H, W, 3K−1]
  const auto raw = per_entry.split_with_sizes({K, K, K - 1}, -1);
  const auto one = torch::ones_like(raw[2].narrow(-1, 0, 1));   // the ends join the identity
  return {knots(raw[0]), knots(raw[1]), torch::cat({one, slope_of(raw[2]), one}, -1)};
}

CouplingLayer::Moved SplineCouplingLayer::move(const Tensor& x, const Tensor& theta) const {
  const auto [y, log_slope] = spline(theta).forward(x.unsqueeze(-1));
  return {y.squeeze(-1), sum_per_image(log_slope)};
}

Tensor SplineCouplingLayer::move_back(const Tensor& y, const Tensor& theta) const {
  return spline(theta).inverse(y.unsqueeze(-1)).squeeze(-1);
}

}  // namespace spnn
