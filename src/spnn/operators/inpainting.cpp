#include <spnn/core/errors.h>
#include <spnn/operators/inpainting.h>

namespace spnn {
namespace {

// [1 or B, C, H, W]
Tensor full_mask(const Tensor& mask, const Shape& in) {
  const auto d = mask.dim();
  const bool plane = d >= 2 && d <= 4 && mask.size(-2) == in.height && mask.size(-1) == in.width;
  const bool channels = d < 3 || mask.size(-3) == in.channels || mask.size(-3) == 1;
  require(plane && channels, "Inpainting", fmt::format("a mask for {}", to_string(in)), to_string(mask.sizes()));
  const auto batch = d == 4 ? mask.size(0) : 1;
  const auto keep = mask.to(torch::kBool);
  return (d == 2 ? keep.unsqueeze(0).unsqueeze(0) : d == 3 ? keep.unsqueeze(0) : keep).expand(in.batched(batch));
}

}  // namespace

Inpainting::Inpainting(const Tensor& mask, const Shape& in) : LinearOperator("Inpainting"), in_(in) {
  const auto keep = full_mask(mask, in).flatten(1);
  const auto kept = keep.sum(1);
  const auto some = (kept > 0) & (kept < in.size());
  for (std::int64_t i = 0; i < keep.size(0); ++i) {
    require(some[i].item<bool>(), keep.size(0) == 1 ? "Inpainting" : fmt::format("Inpainting, mask {}", i),
            "a mask that keeps some entries and not all", fmt::format("{} of {}", kept[i].item<std::int64_t>(), in.size()));
  }
  set_singular_values(keep.to(torch::kFloat64));
}

Tensor Inpainting::U(const Tensor& u) const { return as_interface(u * S().to(u.options()), in_); }

Denoising::Denoising(const Shape& in) : LinearOperator("Denoising"), in_(in) {
  set_singular_values(torch::ones({in.size()}, torch::kFloat64));
}

}  // namespace spnn
