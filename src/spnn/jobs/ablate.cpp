#include <spnn/engine/engine.h>
#include <spnn/jobs/experiment.h>
#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/image/grid.h>

namespace spnn::engine {
namespace {

struct Variant {
  GuidanceOptions guidance;
  Reconstruction result;

  std::string r_and_metric() const { return guidance.pseudo_inverse + ", " + guidance.metric; }
};

std::vector<GuidanceOptions> variants_of(const AblationExperiment& job, const SpnnModel& model, Observer& observer) {
  const auto common = for_reconstruction(job.guidance, model, observer);
  std::vector<GuidanceOptions> variants;
  for (const auto& r : job.pseudo_inverses) {
    if (r == "min-norm" && !model.net->has_r_set("min_norm")) {
      observer.message("min-norm is left out: this model has no r trained on the norm of g†(y)");
      continue;
    }
    for (const auto& metric : job.metrics) {
      for (const double lambda : job.lambdas) {
        auto guidance = common;
        guidance.pseudo_inverse = r;
        guidance.metric = metric;
        guidance.schedule = "constant";
        guidance.lambda = lambda;
        variants.push_back(guidance);
      }
    }
  }
  require(!variants.empty(), "ablation", "one variant or more", "none");
  return variants;
}

Table table_of(const std::vector<Variant>& variants, const Baseline& baseline, const RestorationMeasures& any) {
  Table table{.title = "The same targets, every pseudo-inverse and metric",
              .columns = {"r, metric", "λ", "by g", "|Δp|", "by judge", "transfer", "Fréchet", "√(g(x)−y)² sampled", "saved"}};
  for (const auto& v : variants) {
    const auto& m = v.result.measures;
    table.rows.push_back({v.r_and_metric(), fmt::format("{}", v.guidance.lambda), percent(m.by_g.mean),
                          fmt::format("{:.4f}", m.by_g.mean_abs_dp), percent(m.by_judge.mean),
                          fmt::format("{:.3f}", m.transfer_score), fmt::format("{:.1f}", m.frechet),
                          fmt::format("{:.3g}", m.consistency_before), fmt::format("{:.3g}", m.consistency_after)});
  }
  table.rows.push_back({"unguided", "0", "", "", percent(any.judge_prior), "0", fmt::format("{:.1f}", baseline.frechet_prior), "", ""});
  table.rows.push_back({"real images", "", "100.0 %", "0", percent(any.judge_real), "1", fmt::format("{:.1f}", baseline.frechet_real), "", ""});
  return table;
}

// Rows are targets, columns are variants with the first λ and, last, no guidance.
Tensor figure(const std::vector<Variant>& variants, const Tensor& unguided, double lambda, std::int64_t rows) {
  std::vector<const Variant*> columns;
  for (const auto& v : variants) {
    if (v.guidance.lambda == lambda) columns.push_back(&v);
  }
  GridOptions options{.columns = std::ssize(columns) + 1, .scale = 2};
  for (const auto* v : columns) options.column_labels.push_back(v->guidance.pseudo_inverse + " " + v->guidance.metric);
  options.column_labels.emplace_back("unguided");
  std::vector<Tensor> images;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const auto* v : columns) images.push_back(v->result.bytes[row]);
    images.push_back(unguided[row]);
  }
  return grid(torch::stack(images), options);
}

}  // namespace

ExperimentResult Engine::ablate(const AblationExperiment& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto e = open_experiment(job, job.images, observer);
  const auto unguided = unguided_samples(e, job.sampling, job.seed, job.images, observer);
  const auto baseline = baseline_of(e, unguided);

  if (!job.output.empty()) require_writable_folder(job.output);
  std::vector<Variant> variants;
  auto json = Json{{"images", job.images}, {"sampling", to_json(job.sampling)}, {"variants", Json::array()}};
  for (const auto& guidance : variants_of(job, e.models.classifier, observer)) {
    observer.message(fmt::format("{}, {}, λ = {}", guidance.pseudo_inverse, guidance.metric, guidance.lambda));
    variants.push_back({guidance, reconstruct_held_out(e, baseline, guidance, job.sampling, job.seed, observer)});
    auto entry = spnn::to_json(variants.back().result.measures, e.names());
    entry.erase("per_output");
    entry["guidance"] = to_json(guidance);
    json["variants"].push_back(std::move(entry));
    // An hour's work: what is finished is kept should the rest be interrupted.
    if (!job.output.empty()) write_text_atomically(std::filesystem::path(job.output) / "ablation.json", json.dump(2));
  }
  const auto table = table_of(variants, baseline, variants.front().result.measures);
  ExperimentResult out{.summary = text_table(table), .json = json.dump(2), .page = {}};
  const auto rows = std::min(job.shown, job.images);
  ReportSection section{.name = "ablation", .title = "Ablation", .command = job.command, .order = 30,
                        .text = {fmt::format("{} targets, {} steps.", job.images, job.sampling.steps)}, .tables = {table}};
  for (const double lambda : job.lambdas) {
    const auto image = figure(variants, unguided, lambda, rows);
    section.pictures.push_back(picture(fmt::format("The same {} targets and seeds in every column, λ = {}", rows, lambda), image));
    save_images(job.output, {fmt::format("ablation-lambda-{}.png", lambda)}, image.unsqueeze(0));
  }
  if (!job.report.empty()) out.page = add_to_report(job.report, section).string();
  return out;
}

}  // namespace spnn::engine
