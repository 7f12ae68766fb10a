#include <spnn/app/engine_impl.h>
#include <spnn/app/restore_and_save.h>
#include <spnn/core/errors.h>
#include <spnn/image/image.h>
#include <spnn/restoration/taken_once.h>

namespace spnn::app {
namespace {

Tensor read_photos(const EditJob& job, const Shape& shape) {
  std::vector<Tensor> photos;
  for (const auto& file : job.photos) photos.push_back(read_for(shape, file, job.fit));
  return to_unit(torch::stack(photos)).repeat_interleave(job.samples, 0);
}

// "Smiling_no-Male": a name for files and sections.
std::string name_of(const EditJob& job) {
  std::string what;
  for (const auto& a : job.attributes) what += fmt::format("{}{}{}", what.empty() ? "" : "_", a.present ? "" : "no-", a.name);
  return what;
}

std::vector<std::string> stems_of(const EditJob& job) {
  if (job.photos.empty()) return {name_of(job)};
  std::vector<std::string> stems;
  for (const auto& file : job.photos) stems.push_back(std::filesystem::path(file).stem().string());
  return stems;
}

std::string described(const AttributeTarget& target, const EditJob& job) {
  std::string text;
  for (std::size_t i = 0; i < job.attributes.size(); ++i) {
    text += fmt::format("{}{}={} ({}, logit {:.1f})", text.empty() ? "" : ", ", job.attributes[i].name,
                        job.attributes[i].present ? 1 : 0, spnn::to_string(target.strategies()[i]),
                        target.goal()[static_cast<std::int64_t>(i)].item<double>());
  }
  return text;
}

}  // namespace

RestorationReport edit(const EditJob& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  if (job.attributes.empty()) throw UsageError("edit: expected one attribute or more (--set, --unset), got none");
  const auto models = load_models(job.models);
  const AttributeTarget target(statistics_of(models.classifier),
                               {.changes = attribute_changes(job.attributes, models.names()), .strength = job.strength, .margin = job.margin});
  observer.message(described(target, job));

  RestorationWork work{.controlled = target.controlled(),
                       .guidance = for_editing(job.guidance, models.classifier, observer),
                       .sampling = job.sampling, .output = job.output, .on_preview = job.on_preview, .report = job.report,
                       .section = "edit-" + name_of(job), .title = "Edit: " + name_of(job), .command = job.command};
  const auto stems = stems_of(job);
  const auto names = output_names(stems, job.samples);
  for (std::size_t i = 0; i < names.size(); ++i) {
    work.wishes.push_back({names[i], stems[i / static_cast<std::size_t>(job.samples)], job.seed + i});
  }
  work.target = [&](std::int64_t, std::int64_t) { return taken_once(target, statistics_of(models.classifier)); };
  if (!job.photos.empty()) {
    const auto photos = read_photos(job, models.shape());
    const auto time = work.guidance.window_from.value();
    work.start = [photos, time](std::int64_t first, std::int64_t last) {
      return SamplerStart{.photo = photos.slice(0, first, last), .time = time};
    };
  }
  return restore_and_save(models, work, observer);
}

}  // namespace spnn::app
