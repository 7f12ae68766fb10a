#pragma once

// What `restore` and `compare` share. Internal to jobs/.

#include <spnn/core/part_of_whole.h>
#include <spnn/engine/field.h>
#include <spnn/jobs/loaded_models.h>
#include <spnn/restoration/method.h>
#include <spnn/restoration/restore.h>

namespace spnn::engine {

MethodConfig method_config(const MethodOptions& options, const SamplingOptions& sampling, torch::Device device = torch::kCPU);

// A batch of one problem, solved: what was sampled, and what a file holds of it.
struct Solved {
  Tensor bytes;                          // uint8 [B, C, H, W]
  Tensor sampled, saved;                 // [B] inconsistency before and after rounding
  std::int64_t evaluations = 0;
  double seconds = 0, processor_seconds = 0;
};
KeptBatches::Batch tensors_of(const Solved& solved);
Solved solved_of(const KeptBatches::Batch& batch);

struct FieldProblem {
  const Denoiser& prior;
  const Degradation& g;
  Tensor y;
  NoiseLevels sigma_y = 0;
  std::vector<std::uint64_t> seeds;
};
// `first`: the number of its first image in the whole work, for previews.
Solved solve(const std::string& method, const FieldProblem& problem, const MethodConfig& config, Observer& observer, std::int64_t first = 0);

// The operator of this name on the images of the session's prior.
Degradation open_degradation(const LoadedModels& loaded, DegradationChoice choice);

std::vector<std::uint64_t> seeds_from(std::uint64_t first, std::int64_t count);

// A picture of y, in [−1, 1]: D(x) itself where g was fitted to a black box D and the clean bytes are known.
Tensor measured_picture(const Degradation& g, const Tensor& y, const Tensor& clean = {});

// The same of the image's size for figures: bytes, small ones enlarged pixel by pixel.
Tensor figure_of_measurement(const Degradation& g, const Tensor& y, const Tensor& clean = {});

// Image files as they are, folders as the images in them, sorted.
std::vector<std::string> image_files(const std::vector<std::string>& given);

}  // namespace spnn::engine
