#pragma once

#include <random>

#include "fuzz.h"

namespace spnn::fuzz {

// One to eight small changes of an input, from the numbers of `random` alone: a run can be made again from its seed.
Input mutated(const Input& from, const Input& other, const Target& target, std::mt19937_64& random);

}  // namespace spnn::fuzz
