#include <spnn/engine/engine.h>
#include <spnn/jobs/experiment.h>
#include <spnn/image/grid.h>

namespace spnn::engine {
namespace {

Table headline(const RestorationMeasures& m) {
  return {.title = "Reconstruction from semantics, measured on saved 8-bit PNG files",
          .columns = {"", "agreement by g", "mean |Δp|", "agreement by judge", "Fréchet distance"},
          .rows = {{"restored", percent(m.by_g.mean), fmt::format("{:.4f}", m.by_g.mean_abs_dp), percent(m.by_judge.mean),
                    fmt::format("{:.1f}", m.frechet)},
                   {"unguided prior", "", "", percent(m.judge_prior), fmt::format("{:.1f}", m.frechet_prior)},
                   {"real images", "100.0 %", "0", percent(m.judge_real), fmt::format("{:.1f}", m.frechet_real)}}};
}

Table per_output(const RestorationMeasures& m, const std::vector<std::string>& names) {
  Table table{.title = "Per output", .columns = {"output", "agreement", "|Δp|", "judge agreement", "judge |Δp|"}};
  for (std::size_t a = 0; a < m.by_g.per_output.size(); ++a) {
    table.rows.push_back({names[a], percent(m.by_g.per_output[a]), fmt::format("{:.4f}", m.by_g.abs_dp_per_output[a]),
                          percent(m.by_judge.per_output[a]), fmt::format("{:.4f}", m.by_judge.abs_dp_per_output[a])});
  }
  return table;
}

std::string sentence(const RestorationMeasures& m, const StepCost& cost, double guided) {
  return fmt::format("{} images, {:.2f} s per image. Transfer score {:.3f} (0: the unguided prior, 1: the real image). "
                     "√mean(g(x) − y)² is {:.4f} as sampled and {:.4f} as saved. Back-projection takes {:.1f} % of a step that has it and, "
                     "in {:.0f} % of the steps, {:.1f} % of sampling. "
                     "Fréchet distances are between {} images and all held-out ones; the smaller the number of images, the "
                     "larger they are, so compare within this table.",
                     m.images, m.seconds_per_image, m.transfer_score, m.consistency_before, m.consistency_after,
                     100 * cost.nlbp_share(), 100 * guided, 100 * cost.nlbp_share(guided), m.images);
}

ReportSection section(const ReconstructionExperiment& job, const Experiment& e, const Reconstruction& result,
                      const StepCost& cost, double guided) {
  const auto& m = result.measures;
  return {.name = "reconstruction", .title = "Reconstruction from semantics", .command = job.command, .order = 10,
          .text = {sentence(m, cost, guided)},
          .tables = {headline(m), per_output(m, e.names())},
          .charts = {{.title = "Agreement with the target, %", .labels = e.names(),
                      .series = {{"g", m.by_g.per_output}, {"judge", m.by_judge.per_output}}, .top = 1, .percent = true},
                     {.title = "Mean |Δp|", .labels = e.names(),
                      .series = {{"g", m.by_g.abs_dp_per_output}, {"judge", m.by_judge.abs_dp_per_output}}}},
          .pictures = {picture("Restored images",
                               grid(result.bytes.slice(0, 0, std::min<std::int64_t>(64, m.images)), {.columns = 8, .scale = 2}))}};
}

}  // namespace

ExperimentResult Engine::evaluate_reconstruction(const ReconstructionExperiment& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto e = open_experiment(job, job.images, observer);
  const auto guidance = for_reconstruction(job.guidance, e.models.classifier, observer);
  observer.message(fmt::format("{} unguided samples", job.images));
  const auto unguided = unguided_samples(e, job.sampling, job.seed + unguided_seed, job.images, observer);
  const auto baseline = baseline_of(e, unguided);
  observer.message(fmt::format("{} reconstructions", job.images));
  const auto result = reconstruct_held_out(e, baseline, guidance, job.sampling, job.seed, observer);
  save_images(job.output, e.held_out.files, result.bytes);

  const auto cost = step_cost(e.models, *make_projector(e.models.classifier, guidance), job.sampling.batch);
  const double guided = guided_part(sampler_config(job.sampling), restorer_config(guidance, job.sampling).window, e.models.prior->schedule());
  auto json = spnn::to_json(result.measures, e.names());
  json["nlbp_share_of_step"] = cost.nlbp_share();
  json["nlbp_share_of_sampling"] = cost.nlbp_share(guided);
  json["sampling"] = to_json(job.sampling);
  json["guidance"] = to_json(guidance);
  ExperimentResult out{.summary = text_table(headline(result.measures)) + sentence(result.measures, cost, guided) + "\n",
                       .json = json.dump(2), .page = {}};
  if (!job.report.empty()) out.page = add_to_report(job.report, section(job, e, result, cost, guided)).string();
  return out;
}

}  // namespace spnn::engine
