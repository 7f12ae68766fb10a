#pragma once

// What the experiments share: models with a judge, real images, the baseline, and how results leave. Internal to jobs/.

#include <spnn/engine/experiments.h>
#include <spnn/jobs/restoration_session.h>
#include <spnn/data/dataset.h>
#include <spnn/evaluation/opinion.h>
#include <spnn/evaluation/report.h>

namespace spnn::engine {

struct Experiment {
  RestorationModels models;
  JudgeModel judge;
  Task task;
  Dataset held_out;
  Dataset train;        // the first `images` training images
  Tensor y_real;        // [N, A] g on the first N held-out images
  std::shared_ptr<const Upscaler> second = {};   // where large images are to be made
  std::shared_ptr<KeptBatches> kept = {};

  const std::vector<std::string>& names() const { return models.names(); }
};

// The images of the choice; says which.
Dataset load_held_out(const std::string& data, const Shape& shape, Observer& observer, const HeldOutChoice& choice = {});

// Loads everything and measures g on the first `images` held-out images.
Experiment open_experiment(const ExperimentJob& job, std::int64_t images, Observer& observer);

// N targets from real images, and what the prior makes without guidance.
Baseline baseline_of(const Experiment& experiment, const Tensor& unguided);

// What the prior makes of these seeds without guidance, and without the time travel that serves it.
Tensor unguided_samples(const Experiment& experiment, const SamplingOptions& sampling, std::uint64_t seed, std::int64_t count, Observer& observer);

// Seeds of unguided samples, far from those of guided ones so that no noise is shared.
inline constexpr std::uint64_t unguided_seed = 1'000'000;

struct Reconstruction {
  Tensor bytes;
  RestorationMeasures measures;
};

// Reconstructs the first N held-out images from g's outputs and measures what a PNG file gives back.
Reconstruction reconstruct_held_out(const Experiment& experiment, const Baseline& baseline, const GuidanceOptions& guidance,
                                    const SamplingOptions& sampling, std::uint64_t seed, Observer& observer);

// The judge's features of large images: of four crops of its own size from random places of each.
Tensor crop_features(const Judge& judge, const Tensor& images, const Rng& places);

// What g says of images in [−1, 1], on the CPU, where measuring is done.
Tensor outputs_of(const BackProjector& g, const Tensor& x, torch::Device device);

// The images as a PNG file holds them.
Tensor through_png(const Tensor& bytes);

// Shares of one denoising step, by the clock: the prior's evaluation and back-projection.
struct StepCost {
  double prior_seconds = 0, nlbp_seconds = 0;
  // Of a sampling in which this part of the steps is guided; 1 is one guided step.
  double nlbp_share(double guided = 1) const { return guided * nlbp_seconds / (prior_seconds + guided * nlbp_seconds); }
};
StepCost step_cost(const RestorationModels& models, const BackProjector& g, std::int64_t batch);

void save_images(const std::string& folder, const std::vector<std::string>& names, const Tensor& bytes);

// Settings as a report names them.
Json to_json(const SamplingOptions& options);
Json to_json(const GuidanceOptions& options);

std::string percent(double share);   // "92.3 %", "–" for NaN

// The rows as text columns for a terminal.
std::string text_table(const Table& table);

}  // namespace spnn::engine
