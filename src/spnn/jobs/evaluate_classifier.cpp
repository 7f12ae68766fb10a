#include <spnn/engine/engine.h>
#include <spnn/jobs/labelled_model.h>
#include <spnn/jobs/loaded_models.h>
#include <spnn/jobs/write_json.h>
#include <spnn/core/errors.h>
#include <spnn/evaluation/classifier.h>

namespace spnn::engine {
namespace {

Dataset load_for(const LabelledModel& model, const EvaluateClassifierJob& job) {
  auto set = load_dataset(job.data, {.split = split_from(job.split), .size = model.input.height, .channels = model.input.channels});
  require(set.size() > 0, job.data, fmt::format("images in the split '{}'", job.split), "none",
          "see 'spnn data info' for the splits of a set");
  require(model.names.empty() || model.names == set.attributes, job.model, "the labels of " + job.data + " in its order",
          fmt::format("{} others", model.names.size()));
  return set;
}

}  // namespace

ClassifierFigures Engine::evaluate_classifier(const EvaluateClassifierJob& job, Observer& observer) {
  const auto model = load_labelled_model(job.model, device_from(job.device));
  const auto set = load_for(model, job);
  observer.message(fmt::format("{}: {} images of the split '{}', {}", set.name, set.size(), job.split, set.split_rule));
  Tensor second;
  if (!job.judge.empty()) second = outputs_over(set, load_labelled_model(job.judge, device_from(job.device)).map);
  const auto report = report_classifier(set, outputs_over(set, model.map), second);
  write_json(job.json, to_json(report));
  ClassifierFigures out{.rows = {}, .images = report.images, .mean_accuracy = report.mean_accuracy, .majority = report.majority,
                        .judge_mean_accuracy = report.judge_mean_accuracy, .agreement = report.agreement};
  for (const auto& row : report.rows) {
    out.rows.push_back({.name = row.name, .rate = row.rate, .accuracy = row.accuracy, .judge = row.judge, .agreement = row.agreement});
  }
  return out;
}

}  // namespace spnn::engine
