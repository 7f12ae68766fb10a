#include <spnn/core/errors.h>
#include <spnn/flows/slice.h>

namespace spnn {

Slice::Slice(const SliceConfig& config, std::shared_ptr<Subnet> r)
    : FlowLayer(config.in, {config.kept_channels, config.in.height, config.in.width}), r_(std::move(r)) {
  require(config.kept_channels > 0 && config.kept_channels < config.in.channels, "Slice",
          fmt::format("0 < kept_channels < {}", config.in.channels), fmt::format("{}", config.kept_channels));
  if (r_.net()) register_module("r", r_.net());
}

Shape Slice::z_shape() const {
  return {in_shape().channels - out_shape().channels, in_shape().height, in_shape().width};
}

Observed Slice::observe(const Tensor& x) const {
  require_shape(x, in_shape(), "Slice");
  const auto parts = x.split_with_sizes({out_shape().channels, z_shape().channels}, 1);
  const auto y = parts[0].contiguous();
  auto [z, log_p] = r_.standardise(parts[1], y);
  return {{y, {z}}, log_p};
}

Tensor Slice::invert(const Completion& yz) const {
  require_shape(yz.y, out_shape(), "Slice inverse");
  return torch::cat({yz.y, r_.place(yz.z.at(0), yz.y)}, 1);
}

}  // namespace spnn
