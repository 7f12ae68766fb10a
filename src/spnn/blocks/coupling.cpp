#include <spnn/blocks/coupling.h>
#include <spnn/core/errors.h>

namespace spnn {

Coupling::Coupling(const CouplingConfig& config, std::shared_ptr<OrthogonalMix> mix, CouplingNets nets)
    : Block(config.in, config.in), moved_(config.moved_channels), mix_(std::move(mix)),
      scale_shift_(std::move(nets), config.scale_bound) {
  require(moved_ > 0 && moved_ < config.in.channels, "Coupling",
          fmt::format("0 < moved_channels < {}", config.in.channels), fmt::format("{}", moved_));
  require(mix_ && mix_->channels() == config.in.channels, "Coupling",
          fmt::format("a mix of {} channels", config.in.channels), mix_ ? fmt::format("{}", mix_->channels()) : "none");
  register_module("mix", mix_);
  scale_shift_.register_into(*this);
}

Completion Coupling::complete(const Tensor& x) const {
  require_shape(x, in_shape(), "Coupling");
  const auto u = mix_->forward(x);
  const auto u1 = u.narrow(1, moved_, u.size(1) - moved_).contiguous();
  return {torch::cat({scale_shift_.apply(u.narrow(1, 0, moved_), u1), u1}, 1), {}};
}

Tensor Coupling::pinv(const Tensor& y) const {
  require_shape(y, out_shape(), "Coupling inverse");
  const auto u1 = y.narrow(1, moved_, y.size(1) - moved_).contiguous();
  return mix_->inverse(torch::cat({scale_shift_.undo(y.narrow(1, 0, moved_), u1), u1}, 1));
}

AffineCoupling::AffineCoupling(const CouplingConfig& config, std::shared_ptr<OrthogonalMix> mix, CouplingNets nets)
    : Coupling(config, std::move(mix), nets) {
  require(nets.st || nets.s, "AffineCoupling", "a net s (or st)", "only t", "t alone is an AdditiveCoupling");
}

}  // namespace spnn
