#include <spnn/core/errors.h>
#include <spnn/flows/coupling_layer.h>

namespace spnn {

CouplingLayer::CouplingLayer(const CouplingLayerConfig& config, std::shared_ptr<Subnet> net)
    : FlowLayer(config.in, config.in), config_(config), first_(config.in.channels / 2), net_(std::move(net)) {
  require(config.in.channels >= 2, "CouplingLayer", "two channels or more", to_string(config.in));
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

Observed CouplingLayer::observe(const Tensor& x) const {
  require_shape(x, in_shape(), "CouplingLayer");
  const auto [part, kept] = split(x);
  const auto [y, log_det] = move(part, net_->forward(kept));
  return {{join(y, kept), {}}, log_det};
}

Tensor CouplingLayer::invert(const Completion& yz) const {
  require_shape(yz.y, out_shape(), "CouplingLayer inverse");
  const auto [part, kept] = split(yz.y);
  return join(move_back(part, net_->forward(kept)), kept);
}

}  // namespace spnn
