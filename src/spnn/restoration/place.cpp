#include <spnn/core/errors.h>
#include <spnn/restoration/place.h>

#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/replication_pad2d.h>
#include <ATen/ops/upsample_bilinear2d.h>

#include <algorithm>

namespace spnn {
namespace {

Tensor smoothed(const Tensor& map, std::int64_t width) {
  const auto reach = width / 2;
  return at::avg_pool2d(at::replication_pad2d(map, {reach, reach, reach, reach}), width, 1);
}

Tensor place_of_one(const Tensor& effect, const Shape& image, const PlaceConfig& c) {
  const auto map = at::upsample_bilinear2d(smoothed(effect.to(torch::kFloat32).unsqueeze(0).unsqueeze(0), 3), {image.height, image.width}, /*align_corners=*/false);
  const auto strongest = map.max().item<double>();
  const auto none = std::min(c.none, c.none_of_strongest * strongest), all = std::min(c.all, c.all_of_strongest * strongest);
  const auto belongs = ((map - none) / std::max(all - none, 1e-6)).clamp(0, 1);
  return smoothed(at::max_pool2d(belongs, 3, 1, 1), 5);   // a little beyond, with a soft edge
}

}  // namespace

Tensor place_of(const Tensor& effects, std::span<const std::int64_t> attributes, const Shape& image, const PlaceConfig& config) {
  require(effects.dim() == 3 && !attributes.empty(), "place_of", "effects [A, h, w] and an attribute or more",
          fmt::format("{} dimensions and {}", effects.dim(), attributes.size()));
  Tensor place;
  for (const auto attribute : attributes) {
    require(attribute >= 0 && attribute < effects.size(0), "place_of", fmt::format("an attribute below {}", effects.size(0)), std::to_string(attribute));
    const auto one = place_of_one(effects[attribute], image, config);
    place = place.defined() ? torch::maximum(place, one) : one;
  }
  return place;
}

}  // namespace spnn
