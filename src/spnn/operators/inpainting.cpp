#include <spnn/core/errors.h>
#include <spnn/operators/inpainting.h>

namespace spnn {

Inpainting::Inpainting(const Tensor& mask, const Shape& in) : in_(in) {
  const bool plane = mask.dim() == 2 && mask.size(0) == in.height && mask.size(1) == in.width;
  const bool full = mask.dim() == 3 && mask.size(0) == in.channels && mask.size(1) == in.height &&
                    mask.size(2) == in.width;
  require(plane || full, "Inpainting", fmt::format("a mask for {}", to_string(in)), to_string(mask.sizes()));
  const auto keep = mask.to(torch::kBool).expand({in.channels, in.height, in.width}).reshape({-1});
  kept_ = keep.nonzero().squeeze(1);
  discarded_ = keep.logical_not().nonzero().squeeze(1);
  require(kept_.numel() > 0 && discarded_.numel() > 0, "Inpainting", "a mask that keeps some entries and not all",
          fmt::format("{} of {}", kept_.numel(), in.size()));
}

Tensor Inpainting::forward(const Tensor& x) const {
  require_shape(x, in_, "Inpainting");
  return x.flatten(1).index_select(1, kept_.to(x.device()));
}

Completion Inpainting::complete(const Tensor& x) const {
  return {forward(x), {x.flatten(1).index_select(1, discarded_.to(x.device()))}};
}

Tensor Inpainting::assemble(const Tensor& y, const Tensor& z) const {
  require_shape(y, out_shape(), "Inpainting inverse");
  const auto blank = torch::zeros({y.size(0), in_.size()}, y.options());
  return blank.index_copy(1, kept_.to(y.device()), y.flatten(1))
      .index_copy(1, discarded_.to(y.device()), z)
      .reshape(in_.batched(y.size(0)));
}

Tensor Inpainting::invert(const Completion& yz) const {
  require(yz.z.size() == 1, "Inpainting inverse", "one z", fmt::format("{}", yz.z.size()));
  return assemble(yz.y, yz.z.front());
}

Tensor Inpainting::pinv(const Tensor& y) const {
  return assemble(y, torch::zeros({y.size(0), discarded_.numel()}, y.options()));
}

}  // namespace spnn
