#include <spnn/restoration/enlarged_edit.h>

#include <ATen/ops/upsample_nearest2d.h>

namespace spnn {
namespace {

constexpr std::int64_t kDrawnFrom = 200;   // an edit that was drawn again from below kept what was there

}  // namespace

Tensor enlarged_edit(const std::shared_ptr<const Upscaler>& net, const Tensor& photos, const Tensor& low, const DrawnPlace& drawn,
                     const UpscaleConfig& config, const ImageSeeds& seeds, Observer& observer) {
  auto out = transport(*net, photos, low).clamp(-1, 1);
  if (!drawn.place.defined()) return out;
  const auto place = drawn.place.to(low.options());
  const auto times = redraw_times(Schedule::linear(), net->low(photos), low, place, drawn.redraw);
  const auto which = times.ge(kDrawnFrom).nonzero().flatten();
  if (which.numel() == 0) return out;
  const auto index = which.to(low.device());
  const auto some = [&](const Tensor& all) { return all.size(0) == 1 ? all : all.index_select(0, index); };
  const auto carried = out.index_select(0, index);
  // The mask is one number a cell, so that both pictures' mixture has their small image.
  const auto mask = at::upsample_nearest2d(some(place), {photos.size(2), photos.size(3)});
  const auto made = upscale(net, low.index_select(0, index), config, seeds.chosen(which), observer,
                            [&](const Tensor& x0, std::int64_t) { return torch::lerp(carried, x0, mask.expand_as(x0)); });
  return out.index_copy(0, index, made.clamp(-1, 1));
}

}  // namespace spnn
