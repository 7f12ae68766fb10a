#pragma once

#include <spnn/core/shape.h>

#include <cstdint>
#include <span>

namespace spnn {

// From which effect on (standard deviations; training/places.h) a place belongs to an attribute: not at all, and entirely. Of an attribute with
// no strong effect anywhere, the places of its strongest belong to it.
struct PlaceConfig {
  double none = 0.3, all = 0.5;
  double none_of_strongest = 0.4, all_of_strongest = 0.7;
};

// Where an image of this shape may change for the attributes' sake, softly: [1, 1, H, W] in [0, 1], from effects [A, h, w].
Tensor place_of(const Tensor& effects, std::span<const std::int64_t> attributes, const Shape& image, const PlaceConfig& config = {});

}  // namespace spnn
