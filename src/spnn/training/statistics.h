#pragma once

#include <spnn/data/dataset.h>

#include <filesystem>
#include <map>
#include <string>

namespace spnn {

// Mean [A] and covariance [A, A] of outputs [N, A], under the names that model files store them by: what attribute
// editing measures its targets in.
//   statistics.mean, statistics.covariance (float32, computed in double)
//   statistics.exemplars: the outputs of up to 4096 images, evenly taken
std::map<std::string, Tensor> output_statistics(const Tensor& outputs);

// The same of a network's outputs on `train`, and statistics.places where its images have attributes (training/places.h).
std::map<std::string, Tensor> output_statistics(const Tensor& outputs, const Dataset& train);

// Adds tensors to a model file, or replaces those of the same name; atomic.
void add_to_model(const std::filesystem::path& file, std::map<std::string, Tensor> tensors);

}  // namespace spnn
