#pragma once

#include <spnn/core/rng.h>
#include <torch/nn/module.h>

namespace spnn {

// Initial values are an act of their own: a module is built with zeros, then filled from an Rng, tensor by tensor in
// name order, so that a network's start depends on the seed and on nothing else.

// Uniform in ±gain·√(3/fan_in) for weights of two or more dimensions; one-dimensional tensors keep their values.
void initialise(torch::nn::Module& module, const Rng& rng, double gain = 1.0);

// Sets a layer's weight and bias to zero: the usual start of the last layer of a residual or coupling network.
void zero_(torch::nn::Module& layer);

// The number of parameters.
std::int64_t parameter_count(const torch::nn::Module& module);

}  // namespace spnn
