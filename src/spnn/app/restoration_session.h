#pragma once

// What the restoration commands share. Internal to app/.

#include <spnn/app/restoration.h>
#include <spnn/checkpoint/models.h>
#include <spnn/diffusion/load_prior.h>
#include <spnn/projection/spnn_projector.h>
#include <spnn/restoration/restore_all.h>
#include <spnn/training/task.h>

#include <filesystem>
#include <span>

namespace spnn::app {

// A network with its prior, fitting together.
struct RestorationModels {
  SpnnModel classifier;
  std::shared_ptr<UNetDenoiser> prior;

  Shape shape() const { return classifier.net->in_shape(); }
  const std::vector<std::string>& names() const { return classifier.outputs.names; }
};

RestorationModels load_models(const ModelChoice& choice);
JudgeModel load_fitting_judge(const ModelChoice& choice, const SpnnModel& classifier);
LogitStatistics statistics_of(const SpnnModel& model);
Task task_from(const std::string& name);

// The options with window_from settled, as everything below wants them; says so where the classifier's file decides.
GuidanceOptions for_reconstruction(GuidanceOptions options, const SpnnModel& classifier, Observer& observer);
GuidanceOptions for_editing(GuidanceOptions options, const SpnnModel& classifier, Observer& observer);

std::shared_ptr<SpnnProjector> make_projector(const SpnnModel& model, const GuidanceOptions& options);
SamplerConfig sampler_config(const SamplingOptions& options);
RestorerConfig restorer_config(const GuidanceOptions& guidance, const SamplingOptions& sampling);
FinalizeConfig finalize_config(const GuidanceOptions& options);
Guidance make_guidance(const GuidanceOptions& options, const Tensor& controlled = {});

// The numbers of the named attributes. An unknown one is a UsageError that suggests the nearest names.
std::vector<AttributeChange> attribute_changes(std::span<const AttributeRequest> requests,
                                               const std::vector<std::string>& names);

// An image as the network takes it, uint8 [C, H, W]. Another size is an error unless `fit`.
Tensor read_for(const Shape& shape, const std::filesystem::path& file, bool fit);

// Output names from input names: NAME.png, or NAME-1.png … with several samples. Equal names are an error.
std::vector<std::string> output_names(const std::vector<std::string>& stems, std::int64_t samples);

// Makes the folder and checks that files can be written there, before hours of work.
void require_writable_folder(const std::filesystem::path& folder);

// Turns the steps of a batch into previews; nothing for an empty callback.
std::function<void(const SamplerStep&)> previews(const OnPreview& on_preview, std::vector<std::string> names);

}  // namespace spnn::app
