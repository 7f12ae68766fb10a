#include <spnn/core/errors.h>
#include <spnn/flows/coupling_layer.h>

namespace spnn {

CouplingLayer::CouplingLayer(const CouplingLayerConfig& config, std::shared_ptr<Subnet> net)
    : FlowLayer(config.in, config.in), config_(config), first_(config.in.channels / 2), net_(std::move(net)) {
  require(config.in.channels >= 2, "CouplingLayer", "two channels or more", to_string(config.in));
  require(config.scale_bound > 0, "CouplingLayer", "a positive scale bound", fmt::format("{}", config.scale_bound));
  require(net_ != nullptr, "CouplingLayer", "a net", "none");
  register_module("net", net_);
}

std::int64_t CouplingLayer::moved(std::int64_t channels, bool moves_first) {
  return moves_first ? channels / 2 : channels - channels / 2;
}

CouplingLayer::Parts CouplingLayer::split(const Tensor& x) const {
  const auto a = x.narrow(1, 0, first_), b = x.narrow(1, first_, x.size(1) - first_);
  return config_.moves_first ? Parts{a, b.contiguous()} : Parts{b, a.contiguous()};
}

Tensor CouplingLayer::join(const Tensor& moved, const Tensor& kept) const {
  return config_.moves_first ? torch::cat({moved, kept}, 1) : torch::cat({kept, moved}, 1);
}

CouplingLayer::ScaleAndShift CouplingLayer::at(const Tensor& kept) const {
  const auto out = net_->forward(kept);
  if (!config_.affine) return {{}, out};
  const auto both = out.chunk(2, 1);
  return {config_.scale_bound * torch::tanh(both[0]), both[1]};
}

Observed CouplingLayer::observe(const Tensor& x) const {
  require_shape(x, in_shape(), "CouplingLayer");
  const auto [moved, kept] = split(x);
  const auto [log_scale, shift] = at(kept);
  if (!log_scale.defined()) return {{join(moved + shift, kept), {}}, x.new_zeros({x.size(0)})};
  return {{join(torch::addcmul(shift, moved, torch::exp(log_scale)), kept), {}}, sum_per_image(log_scale)};
}

Tensor CouplingLayer::invert(const Completion& yz) const {
  require_shape(yz.y, out_shape(), "CouplingLayer inverse");
  const auto [moved, kept] = split(yz.y);
  const auto [log_scale, shift] = at(kept);
  if (!log_scale.defined()) return join(moved - shift, kept);
  return join((moved - shift) * torch::exp(-log_scale), kept);
}

}  // namespace spnn
