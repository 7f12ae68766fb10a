#include <spnn/app/restoration_session.h>
#include <spnn/core/errors.h>
#include <spnn/core/nearest_names.h>
#include <spnn/image/image.h>
#include <spnn/image/resize.h>

#include <unistd.h>

#include <algorithm>
#include <set>

namespace spnn::app {
namespace {

GuidanceOptions settled(GuidanceOptions options, std::optional<std::int64_t> of_model, std::int64_t otherwise, Observer& observer) {
  if (options.window_from) return options;
  if (of_model) observer.message(fmt::format("guided below t = {}, as the classifier's file says", *of_model));
  options.window_from = of_model.value_or(otherwise);
  return options;
}

}  // namespace

RestorationModels load_models(const ModelChoice& choice) {
  const auto prior_file = model_file(choice.prior, choice.family, "prior");
  RestorationModels models{load_spnn(model_file(choice.classifier, choice.family, "classifier")), load_prior(prior_file)};
  require(models.prior->shape() == models.shape(), prior_file,
          fmt::format("a prior of {} images, as the classifier takes", to_string(models.shape())),
          to_string(models.prior->shape()));
  return models;
}

JudgeModel load_fitting_judge(const ModelChoice& choice, const SpnnModel& classifier) {
  const auto file = model_file(choice.judge, choice.family, "judge");
  auto judge = load_judge(file);
  require(judge.net->in_shape() == classifier.net->in_shape(), file,
          fmt::format("a judge of {} images", to_string(classifier.net->in_shape())), to_string(judge.net->in_shape()));
  require(judge.outputs.names == classifier.outputs.names, file, "a judge of the classifier's attributes",
          "one of other attributes, or of the same in another order");
  return judge;
}

LogitStatistics statistics_of(const SpnnModel& model) {
  require(model.mean.defined() && model.covariance.defined(), "classifier",
          "statistics of its training outputs (statistics.mean, statistics.covariance)", "none in the model file");
  return {model.mean, model.covariance, model.exemplars};
}

Task task_from(const std::string& name) {
  for (const auto task : {Task::attributes, Task::classes, Task::black_box}) {
    if (to_string(task) == name) return task;
  }
  fail("task of the model", "attributes, classes or black_box", fmt::format("'{}'", name));
}

GuidanceOptions for_reconstruction(GuidanceOptions options, const SpnnModel& classifier, Observer& observer) {
  return settled(std::move(options), classifier.windows.reconstruct, reconstruct_window, observer);
}

GuidanceOptions for_editing(GuidanceOptions options, const SpnnModel& classifier, Observer& observer) {
  return settled(std::move(options), classifier.windows.edit, edit_window, observer);
}

std::shared_ptr<SpnnProjector> make_projector(const SpnnModel& model, const GuidanceOptions& options) {
  const bool naive = options.metric == "naive";
  return std::make_shared<SpnnProjector>(
      model.net, SpnnProjectorConfig{.pseudo_inverse = pseudo_inverse_from(options.pseudo_inverse),
                                     .metric = naive ? Metric::plain : metric_from(options.metric)});
}

SamplerConfig sampler_config(const SamplingOptions& options) {
  return {.kind = sampler_from(options.sampler),
          .steps = options.steps,
          .eta = options.eta,
          .travel = {.length = options.travel_length, .repeat = options.travel_repeat}};
}

RestorerConfig restorer_config(const GuidanceOptions& guidance, const SamplingOptions& sampling) {
  return {.sampler = sampler_config(sampling),
          .window = {.from = guidance.window_from.value(), .to = guidance.window_to, .every = guidance.every},
          .update = guidance.metric == "naive" ? Update::naive : Update::nlbp};
}

FinalizeConfig finalize_config(const GuidanceOptions& options) {
  return {.iterations = static_cast<int>(options.final_projections),
          .update = options.metric == "naive" ? Update::naive : Update::nlbp};
}

Guidance make_guidance(const GuidanceOptions& options, const Tensor& controlled) {
  if (options.schedule == "constant") return constant_lambda(options.lambda);
  if (options.schedule == "two-level") {
    return two_level_lambda({.early = options.lambda, .late = options.late, .below = options.late_below});
  }
  if (options.schedule == "adaptive") {
    return adaptive_lambda({.alpha = options.alpha, .gamma = options.gamma, .controlled = controlled});
  }
  fail("lambda schedule", "constant, two-level or adaptive", fmt::format("'{}'", options.schedule));
}

std::vector<AttributeChange> attribute_changes(std::span<const AttributeRequest> requests,
                                               const std::vector<std::string>& names) {
  std::vector<AttributeChange> changes;
  for (const auto& request : requests) {
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

Tensor read_for(const Shape& shape, const std::filesystem::path& file, bool fit) {
  auto image = read_image(file);
  image = shape.channels == 1 ? as_grey(image) : as_rgb(image);
  if (image.size(1) == shape.height && image.size(2) == shape.width) return image;
  require(fit, file.string(), fmt::format("an image of {} × {}", shape.width, shape.height),
          fmt::format("{} × {}", image.size(2), image.size(1)), "--fit cuts out the middle and resizes it");
  return spnn::fit(image, shape.height, {}, file.string());
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

std::function<void(const SamplerStep&)> previews(const OnPreview& on_preview, std::vector<std::string> names) {
  if (!on_preview) return {};
  return [on_preview, names = std::move(names)](const SamplerStep& step) {
    const auto bytes = to_bytes(step.x0_hat).permute({0, 2, 3, 1}).contiguous();
    for (std::int64_t i = 0; i < bytes.size(0); ++i) {
      const auto image = bytes[i];
      const auto* first = image.data_ptr<std::uint8_t>();
      on_preview({.name = names[static_cast<std::size_t>(i)], .width = bytes.size(2), .height = bytes.size(1),
                  .channels = bytes.size(3), .pixels = {first, first + image.numel()}});
    }
  };
}

}  // namespace spnn::app
