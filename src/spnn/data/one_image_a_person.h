#pragma once

#include <spnn/data/identities.h>

namespace spnn {

// The numbers [M] of one image of each of `count` people (or of as many as there are), drawn by the seed. Without a list of people, of any images.
Tensor one_image_a_person(const Dataset& set, const Identities& people, std::int64_t count, std::uint64_t seed);

}  // namespace spnn
