#include <spnn/blocks/affine_surjection.h>
#include <spnn/core/errors.h>

namespace spnn {
namespace {

Shape reduced(const AffineSurjectionConfig& c) {
  require(c.out_channels > 0 && c.out_channels < c.in.channels, "AffineSurjection",
          fmt::format("0 < out_channels < {}", c.in.channels), fmt::format("{}", c.out_channels),
          "a block that keeps every channel is an affine coupling");
  return {c.out_channels, c.in.height, c.in.width};
}

}  // namespace

AffineSurjection::AffineSurjection(const AffineSurjectionConfig& config, std::shared_ptr<OrthogonalMix> mix,
                                   CouplingNets nets, std::shared_ptr<Subnet> r)
    : Surjection(config.in, reduced(config)), mix_(std::move(mix)), scale_shift_(std::move(nets), config.scale_bound),
      r_(std::move(r)) {
  require(mix_ && mix_->channels() == config.in.channels, "AffineSurjection",
          fmt::format("a mix of {} channels", config.in.channels),
          mix_ ? fmt::format("{}", mix_->channels()) : "none");
  require(r_ != nullptr, "AffineSurjection", "a net r", "none");
  register_module("mix", mix_);
  scale_shift_.register_into(*this);
  register_module("r", r_);
}

Shape AffineSurjection::z_shape() const {
  return {in_shape().channels - out_shape().channels, in_shape().height, in_shape().width};
}

Tensor AffineSurjection::forward(const Tensor& x) const { return complete(x).y; }

Completion AffineSurjection::complete(const Tensor& x) const {
  require_shape(x, in_shape(), "AffineSurjection");
  const auto u = mix_->forward(x);
  const auto d = out_shape().channels;
  const auto u1 = u.narrow(1, d, u.size(1) - d).contiguous();
  return {scale_shift_.apply(u.narrow(1, 0, d), u1), {u1}};
}

Tensor AffineSurjection::invert(const Completion& yz) const {
  require_shape(yz.y, out_shape(), "AffineSurjection inverse");
  require(yz.z.size() == 1, "AffineSurjection inverse", "one z", fmt::format("{}", yz.z.size()));
  const auto& u1 = yz.z.front();
  require_shape(u1, z_shape(), "AffineSurjection inverse z");
  return mix_->inverse(torch::cat({scale_shift_.undo(yz.y, u1), u1}, 1));
}

}  // namespace spnn
