#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/evaluation/classifier.h>

namespace spnn {
namespace {

// What outputs say, in the form of labels.
Tensor answers(Task task, const Tensor& outputs) {
  return task == Task::attributes ? outputs.gt(0).to(torch::kFloat32) : outputs.argmax(1);
}

// [A] of attributes or classes.
Tensor label_rates(Task task, const Dataset& dataset) {
  if (task == Task::attributes) return dataset.labels.to(torch::kFloat64).mean(0);
  const auto count = static_cast<std::int64_t>(dataset.attributes.size());
  return torch::bincount(dataset.labels, {}, count).to(torch::kFloat64) / static_cast<double>(dataset.size());
}

// The agreement of g and the judge where the label is class a, or on attribute a.
double agreement_on(Task task, const Tensor& same, const Tensor& labels, std::int64_t a) {
  const auto part = task == Task::attributes ? same.select(1, a) : same.masked_select(labels.eq(a));
  return part.mean().item<double>();
}

}  // namespace

ClassifierReport report_classifier(const Dataset& dataset, const Tensor& outputs, const Tensor& judge) {
  const auto task = task_of(dataset);
  const auto count = static_cast<std::int64_t>(dataset.attributes.size());
  require(outputs.dim() == 2 && outputs.size(0) == dataset.size() && outputs.size(1) == count, "the network's outputs",
          fmt::format("[{}, {}] as the data set has labels", dataset.size(), count), to_string(outputs.sizes()));
  const auto by_g = accuracy_of(task, outputs, dataset.labels);
  const auto rates = label_rates(task, dataset);
  ClassifierReport report{.rows = {}, .images = dataset.size(), .mean_accuracy = by_g.mean, .majority = 0,
                          .judge_mean_accuracy = {}, .agreement = {}};
  report.majority = (task == Task::attributes ? torch::max(rates, 1 - rates).mean() : rates.max()).item<double>();
  for (std::int64_t a = 0; a < count; ++a) {
    const auto i = static_cast<std::size_t>(a);
    report.rows.push_back({.name = dataset.attributes[i], .rate = rates[a].item<double>(), .accuracy = by_g.per_output[i],
                           .judge = {}, .agreement = {}});
  }
  if (!judge.defined()) return report;
  require(judge.sizes() == outputs.sizes(), "the judge's outputs", to_string(outputs.sizes()), to_string(judge.sizes()));
  const auto by_judge = accuracy_of(task, judge, dataset.labels);
  const auto same = answers(task, outputs).eq(answers(task, judge)).to(torch::kFloat64);
  report.judge_mean_accuracy = by_judge.mean;
  report.agreement = same.mean().item<double>();
  for (std::int64_t a = 0; a < count; ++a) {
    auto& row = report.rows[static_cast<std::size_t>(a)];
    row.judge = by_judge.per_output[static_cast<std::size_t>(a)];
    row.agreement = agreement_on(task, same, dataset.labels, a);
  }
  return report;
}

Json to_json(const ClassifierReport& report) {
  Json out{{"images", report.images}, {"mean_accuracy", report.mean_accuracy}, {"majority", report.majority}};
  if (report.judge_mean_accuracy) out["judge_mean_accuracy"] = *report.judge_mean_accuracy;
  if (report.agreement) out["agreement"] = *report.agreement;
  for (const auto& row : report.rows) {
    Json entry{{"name", row.name}, {"rate", row.rate}, {"accuracy", row.accuracy}};
    if (row.judge) entry["judge"] = *row.judge;
    if (row.agreement) entry["agreement"] = *row.agreement;
    out["attributes"].push_back(std::move(entry));
  }
  return out;
}

}  // namespace spnn
