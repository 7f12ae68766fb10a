#pragma once

#include <spnn/data/dataset.h>

#include <map>

namespace spnn {

// Who is on each picture: the number of a person by the name of a file without its ending.
using Identities = std::map<std::string, std::int64_t>;

// A text file with a line "name person" for every picture ("000001.jpg 2880", as CelebA's, or "1 2880"); a first line with
// the names of the columns is allowed. A line of another form, and a name that comes twice, are an Error with the line.
Identities read_identities(const std::filesystem::path& file);

// The person of every image of a set, [N] int64. An image that the file does not list is an Error with its name.
Tensor people_of(const Dataset& set, const Identities& identities);

// The set with its people as classes 0 … P−1 (in ascending order of their numbers) in place of its labels. People with
// fewer than `least` images are left out.
Dataset with_people(const Dataset& set, const Identities& identities, std::int64_t least = 1);

}  // namespace spnn
