#pragma once

// What the restoration commands share. Internal to jobs/.

#include <spnn/jobs/loaded_models.h>
#include <spnn/projection/spnn_projector.h>
#include <spnn/restoration/enlarged_edit.h>
#include <spnn/restoration/restore.h>
#include <spnn/data/task.h>

#include <filesystem>
#include <span>

namespace spnn::engine {

LogitStatistics statistics_of(const SpnnModel& model);

// The options with window_from settled, as everything below wants them; says so where the classifier's file decides.
GuidanceOptions for_reconstruction(GuidanceOptions options, const SpnnModel& classifier, Observer& observer);
GuidanceOptions for_editing(GuidanceOptions options, const SpnnModel& classifier, Observer& observer);

std::shared_ptr<SpnnProjector> make_projector(const SpnnModel& model, const GuidanceOptions& options);
std::shared_ptr<KeptBatches> kept_batches(const SamplingOptions& options);   // none where nothing is to be kept; one for all of a job
SamplerConfig sampler_config(const SamplingOptions& options, torch::Device device = torch::kCPU);
UpscaleConfig upscale_config(const SamplingOptions& options);

// Large images as a network of small ones takes them: pooled to its shape. Others as they are.
Tensor pooled_to(const Shape& shape, const Tensor& bytes);

// Unguided samples of both stages, in batches, uint8.
Tensor sample_large(const Denoiser& prior, const std::shared_ptr<const Upscaler>& second, const SamplingOptions& sampling, const ImageSeeds& seeds,
                    const std::shared_ptr<KeptBatches>& kept, Observer& observer, const std::function<void(std::int64_t first, const Tensor& bytes)>& on_batch = {});

// Large images of what was sampled small. With photos, their own detail is kept and moved along with the small image, but for what was drawn
// again; without, the second stage makes it.
Enlargement enlargement(std::shared_ptr<const Upscaler> second, std::shared_ptr<const SpnnProjector> g, const SamplingOptions& sampling,
                        const ImageSeeds& seeds, const Tensor& photos = {}, const DrawnPlace& drawn = {});
RestorerConfig restorer_config(const GuidanceOptions& guidance, const SamplingOptions& sampling, torch::Device device = torch::kCPU);
Guidance make_guidance(const GuidanceOptions& options, const Tensor& controlled = {});

// The numbers of the named attributes. An unknown one is a UsageError that suggests the nearest names; so is, unless they are `graded`, a
// probability or a value in place of yes or no.
std::vector<AttributeChange> attribute_changes(std::span<const AttributeRequest> requests,
                                               const std::vector<std::string>& names, bool graded = false);

// Output names from input names: NAME.png, or NAME-1.png … with several samples. Equal names are an error.
std::vector<std::string> output_names(const std::vector<std::string>& stems, std::int64_t samples);

// Makes the folder and checks that files can be written there, before hours of work.
void require_writable_folder(const std::filesystem::path& folder);

// A text as a part of a file's name: "T-shirt/top" has one that is none.
std::string as_file_name(std::string text);

}  // namespace spnn::engine
