#include <spnn/core/errors.h>
#include <spnn/flows/affine_coupling_layer.h>

namespace spnn {

AffineCouplingLayer::AffineCouplingLayer(const CouplingLayerConfig& config, double scale_bound, std::shared_ptr<Subnet> net)
    : CouplingLayer(config, std::move(net)), scale_bound_(scale_bound) {
  require(scale_bound > 0, "AffineCouplingLayer", "a positive scale bound", fmt::format("{}", scale_bound));
}

AffineCouplingLayer::ScaleAndShift AffineCouplingLayer::parts(const Tensor& theta) const {
  const auto both = theta.chunk(2, 1);
  return {scale_bound_ * torch::tanh(both[0]), both[1]};
}

CouplingLayer::Moved AffineCouplingLayer::move(const Tensor& x, const Tensor& theta) const {
  const auto [log_scale, shift] = parts(theta);
  return {torch::addcmul(shift, x, torch::exp(log_scale)), sum_per_image(log_scale)};
}

Tensor AffineCouplingLayer::move_back(const Tensor& y, const Tensor& theta) const {
  const auto [log_scale, shift] = parts(theta);
  return (y - shift) * torch::exp(-log_scale);
}

}  // namespace spnn
