#include <spnn/jobs/restoration_session.h>
#include <spnn/core/errors.h>
#include <spnn/core/nearest_names.h>
#include <spnn/image/image.h>
#include <spnn/projection/composed_projector.h>

#include <unistd.h>

#include <algorithm>
#include <set>

namespace spnn::engine {
namespace {

GuidanceOptions settled(GuidanceOptions options, std::optional<std::int64_t> of_model, std::int64_t otherwise, Observer& observer) {
  if (options.window_from) return options;
  if (of_model) observer.message(fmt::format("guided below t = {}, as the classifier's file says", *of_model));
  options.window_from = of_model.value_or(otherwise);
  return options;
}

}  // namespace

LogitStatistics statistics_of(const SpnnModel& model) {
  require(model.mean.defined() && model.covariance.defined(), "classifier",
          "statistics of its training outputs (statistics.mean, statistics.covariance)", "none in the model file");
  return {model.mean, model.covariance, model.exemplars};
}

GuidanceOptions for_reconstruction(GuidanceOptions options, const SpnnModel& classifier, Observer& observer) {
  return settled(std::move(options), classifier.windows.reconstruct, reconstruct_window, observer);
}

GuidanceOptions for_editing(GuidanceOptions options, const SpnnModel& classifier, Observer& observer) {
  return settled(std::move(options), classifier.windows.edit, edit_window, observer);
}

std::shared_ptr<SpnnProjector> make_projector(const SpnnModel& model, const GuidanceOptions& options) {
  return std::make_shared<SpnnProjector>(model.net, SpnnProjectorConfig{.pseudo_inverse = pseudo_inverse_from(options.pseudo_inverse),
                                                                        .metric = metric_from(options.metric)});
}

std::shared_ptr<KeptBatches> kept_batches(const SamplingOptions& options) {
  const auto& [folder, work, rank, size] = options.kept;
  if (folder.empty()) return {};
  return std::make_shared<KeptBatches>(KeptConfig{.folder = folder, .work = work, .rank = rank, .size = size});
}

SamplerConfig sampler_config(const SamplingOptions& options, torch::Device device) {
  return {.kind = sampler_from(options.sampler),
          .steps = options.steps,
          .eta = options.eta,
          .spacing = spacing_from(options.spacing),
          .travel = {.length = options.travel_length, .repeat = options.travel_repeat},
          .device = device};
}

Tensor pooled_to(const Shape& shape, const Tensor& bytes) {
  const auto factor = bytes.size(2) / shape.height;
  return factor <= 1 ? bytes : to_bytes(torch::avg_pool2d(to_unit(bytes), factor));
}

UpscaleConfig upscale_config(const SamplingOptions& options) {
  return {.sampler = {.kind = SamplerKind::ddpm, .steps = options.detail_steps}};
}

Enlargement enlargement(std::shared_ptr<const Upscaler> second, std::shared_ptr<const SpnnProjector> g, const SamplingOptions& sampling,
                        const ImageSeeds& seeds, const Tensor& photos, const DrawnPlace& drawn) {
  return {.g = behind_pooling(std::move(g), second->config().image_size),
          .make = [second, config = upscale_config(sampling), seeds, photos, drawn](const Tensor& x, std::int64_t first, std::int64_t last, Observer& observer) {
            const auto own = seeds.slice(first, last);
            if (photos.defined()) return enlarged_edit(second, photos.slice(0, first, last), x, drawn, config, own, observer);
            return upscale(second, x, config, own, observer).clamp(-1, 1);
          }};
}

RestorerConfig restorer_config(const GuidanceOptions& guidance, const SamplingOptions& sampling, torch::Device device) {
  return {.sampler = sampler_config(sampling, device),
          .window = {.from = guidance.window_from.value(), .to = guidance.window_to, .every = guidance.every},
          .finalize = {.iterations = static_cast<int>(guidance.final_projections)},
          .batch = sampling.batch};
}

Guidance make_guidance(const GuidanceOptions& options, const Tensor& controlled) {
  switch (lambda_schedule_from(options.schedule)) {
    case LambdaSchedule::constant: return constant_lambda(options.lambda);
    case LambdaSchedule::two_level: return two_level_lambda({.early = options.lambda, .late = options.late, .below = options.late_below});
    case LambdaSchedule::adaptive: return adaptive_lambda({.alpha = options.alpha, .gamma = options.gamma, .controlled = controlled});
  }
  return {};
}

std::vector<AttributeChange> attribute_changes(std::span<const AttributeRequest> requests,
                                               const std::vector<std::string>& names, bool graded) {
  std::vector<AttributeChange> changes;
  for (const auto& request : requests) {
    if (!graded && (request.probability || request.value)) {
      throw UsageError(fmt::format("attribute {}: expected yes or no, got a degree: only an edit of a photo has degrees", request.name));
    }
    const auto found = std::ranges::find(names, request.name);
    if (found == names.end()) {
      throw UsageError(fmt::format("attribute: expected one that the classifier knows, got '{}' (did you mean {}?)",
                                   request.name, fmt::join(nearest_names(request.name, names, 3), ", ")));
    }
    changes.push_back({.attribute = found - names.begin(), .present = request.present,
                       .strategy = strategy_from(request.strategy)});
  }
  return changes;
}

std::vector<std::string> output_names(const std::vector<std::string>& stems, std::int64_t samples) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const auto& stem : stems) {
    require(seen.insert(stem).second, "inputs", "files with different names", fmt::format("'{}' twice", stem),
            "outputs are named after inputs");
    for (std::int64_t k = 1; k <= samples; ++k) {
      names.push_back(samples == 1 ? stem + ".png" : fmt::format("{}-{}.png", stem, k));
    }
  }
  return names;
}

void require_writable_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  require(std::filesystem::is_directory(folder) && access(folder.c_str(), W_OK) == 0, folder.string(),
          "a folder that can be written", error ? error.message() : "one that cannot");
}

std::string as_file_name(std::string text) {
  for (auto& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || std::string_view("/\\:;*?\"<>|").find(c) != std::string_view::npos) c = '-';
  }
  if (!text.empty() && text.front() == '.') text.front() = '-';
  return text;
}

}  // namespace spnn::engine
