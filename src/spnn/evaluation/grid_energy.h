#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace spnn {

using torch::Tensor;

// How much of an image repeats every `period` pixels beyond what its spectrum has around that frequency: the trace of a network's cells. For each
// direction the energy of the frequencies of 1/period, summed over the other direction and over images and channels, divided by the
// geometric mean of that of the two frequencies on each side (at the highest one: the two below, continued as a straight line of logarithms);
// the mean of both directions. 1 is no grid; falling spectra of photos have about 1 too.
//   requires  images [N, C, H, W] with H and W multiples of the period, at least 4 frequencies from the lowest.
double grid_energy(const Tensor& images, std::int64_t period);

// The same for several periods.
std::vector<double> grid_energies(const Tensor& images, const std::vector<std::int64_t>& periods);

}  // namespace spnn
