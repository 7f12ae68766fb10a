#pragma once

#include <spnn/data/identities.h>

namespace spnn {

// These images of a set, in this order, with all that belongs to them. indices: [M] int64.
Dataset rows_of(const Dataset& set, const Tensor& indices);

// All images in a random order that is a function of the seed: its first N are a choice of N.
Dataset shuffled(const Dataset& set, std::uint64_t seed);

// The same images, every person once before anybody comes twice; the order is kept otherwise.
Dataset everybody_first(const Dataset& set, const Identities& identities);

// One half of the people of a set with all their images, "a" or "b": one half to choose by, the other to report on. Who is in which
// depends on the number of the person only.
Dataset half_by_person(const Dataset& set, const Identities& identities, char half);

}  // namespace spnn
