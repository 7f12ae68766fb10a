#include <spnn/core/errors.h>
#include <spnn/operators/clipping.h>

namespace spnn {

Clipping::Clipping(const Shape& in, double scale) : in_(in), scale_(scale) {
  require(scale > 1, "hdr", "a scale above 1: nothing is clipped else", fmt::format("{}", scale));
}

Tensor Clipping::forward(const Tensor& x) const {
  require_shape(x, in_, "hdr");
  return (x * scale_).clamp(-1, 1);
}

Completion Clipping::complete(const Tensor& x) const {
  const auto y = forward(x);
  return {y, {x * scale_ - y}};
}

Tensor Clipping::invert(const Completion& yz) const {
  require(yz.z.size() == 1, "hdr inverse", "one z", fmt::format("{}", yz.z.size()));
  const auto& z = yz.z.front();
  const auto none = torch::zeros_like(z);
  const auto beyond = torch::where(yz.y >= 1, z.clamp_min(0), torch::where(yz.y <= -1, z.clamp_max(0), none));
  return (yz.y.clamp(-1, 1) + beyond) / scale_;
}

}  // namespace spnn
