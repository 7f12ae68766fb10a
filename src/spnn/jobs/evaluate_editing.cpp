#include <spnn/engine/engine.h>
#include <spnn/jobs/experiment.h>
#include <spnn/core/errors.h>
#include <spnn/core/stopwatch.h>
#include <spnn/evaluation/edit_measures.h>
#include <spnn/image/grid.h>
#include <spnn/image/image.h>
#include <spnn/restoration/taken_once.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spnn::engine {
namespace {

using Requests = std::vector<AttributeRequest>;

const std::vector<std::string> default_attributes = {
    "Eyeglasses", "Smiling", "Male", "Blond_Hair", "Black_Hair", "Bald", "Bangs", "Wearing_Hat", "Mustache",
    "Heavy_Makeup", "Young", "Mouth_Slightly_Open"};
const std::vector<Requests> default_sets = {{{"Smiling"}, {"Eyeglasses"}},
                                            {{"Blond_Hair"}, {"Smiling"}, {"Heavy_Makeup"}},
                                            {{"Male"}, {"Black_Hair"}, {"Smiling", false}}};

struct EditFigures {
  Requests requests;
  std::vector<std::string> strategies;
  Tensor bytes;
  EditMeasures by_judge = {}, by_g = {};
  double mean_abs_dp = 0;         // of the controlled outputs, by g, on saved images
  double judge_unguided = 0;      // the judge's share of right answers on unguided samples
  double judge_real = 0;          // … and on real images that have the attribute by g
  double seconds_per_image = 0;

  double judge_right() const {
    return std::accumulate(by_judge.right.begin(), by_judge.right.end(), 0.0) / static_cast<double>(by_judge.right.size());
  }
  std::string name() const {
    std::string text;
    for (const auto& r : requests) text += fmt::format("{}{}{}", text.empty() ? "" : " + ", r.present ? "" : "no ", r.name);
    return text;
  }
};

struct Unguided {
  Tensor bytes, y;
  Opinion opinion;
};

std::vector<Requests> edits_of(const EditingExperiment& job, const std::vector<std::string>& names) {
  const auto known = [&](const AttributeRequest& r) { return std::ranges::find(names, r.name) != names.end(); };
  std::vector<Requests> edits;
  for (const auto& name : job.attributes.empty() ? default_attributes : job.attributes) {
    if (!job.attributes.empty() || known({name})) edits.push_back({{name}});
  }
  for (const auto& set : job.attributes.empty() && job.sets.empty() ? default_sets : job.sets) {
    if (!job.sets.empty() || std::ranges::all_of(set, known)) edits.push_back(set);
  }
  require(!edits.empty(), "attributes", "one or more that the model has", "none");
  return edits;
}

EditFigures run_edit(const EditingExperiment& job, const Experiment& e, const BackProjector& g, Requests requests,
                    const Unguided& unguided, const Tensor& judge_held_out, const Tensor& y_held_out, Observer& observer) {
  for (auto& request : requests) request.strategy = request.strategy == "auto" ? job.strategy : request.strategy;
  const auto changes = attribute_changes(requests, e.names());
  const AttributeTarget target(statistics_of(e.models.classifier), {.changes = changes, .strength = job.strength, .margin = job.margin});
  auto guidance = job.guidance;
  if (requests.size() > 1 && job.sets_window_from) guidance.window_from = job.sets_window_from;
  const RestorationTask task{.seeds = ImageSeeds(job.seed, job.seeds),
                             .target = [&](std::int64_t, std::int64_t) {
                               return job.each_step ? Target(target) : taken_once(target, statistics_of(e.models.classifier));
                             },
                             .guidance = make_guidance(guidance, target.controlled()),
                             .kept = e.kept};
  const Stopwatch watch;
  const auto done = restore(*e.models.prior, g, restorer_config(guidance, job.sampling, e.models.device()), task, observer);
  EditFigures result{.requests = requests, .strategies = {}, .bytes = through_png(done.bytes)};
  result.seconds_per_image = watch.seconds() / static_cast<double>(job.seeds);
  for (const auto strategy : target.strategies()) result.strategies.push_back(spnn::to_string(strategy));

  const auto y = outputs_of(g, to_unit(result.bytes), e.models.device());
  EditedSet set{.logits = opinion_on(*e.judge.net, result.bytes).logits, .unguided = unguided.opinion.logits};
  for (const auto& change : changes) {
    set.attributes.push_back(change.attribute);
    set.present.push_back(change.present);
    result.judge_real += recall_on(judge_held_out, y_held_out, change.attribute, change.present) / double(changes.size());
  }
  result.by_judge = measure_edit(set);
  const auto free = set.unguided;
  const auto m_free = measure_edit({.logits = free, .unguided = free, .attributes = set.attributes, .present = set.present});
  result.judge_unguided = std::accumulate(m_free.right.begin(), m_free.right.end(), 0.0) / double(changes.size());
  result.by_g = measure_edit({.logits = y, .unguided = unguided.y, .attributes = set.attributes, .present = set.present});
  result.mean_abs_dp = agreement_of(Task::attributes, y.index_select(1, target.controlled()),
                                    done.target.to(torch::kCPU).index_select(1, target.controlled())).mean_abs_dp;
  return result;
}

double mean_of(const std::vector<EditFigures>& results, const std::function<double(const EditFigures&)>& value) {
  double sum = 0;
  for (const auto& r : results) sum += value(r) / static_cast<double>(results.size());
  return sum;
}

Table table_of(const std::vector<EditFigures>& results) {
  Table table{.title = "Edits from noise, measured on saved 8-bit PNG files",
              .columns = {"edit", "strategy", "by g", "by judge", "all by judge", "judge, unguided", "judge, real", "|Δp|",
                          "others changed", "unguided"}};
  for (const auto& r : results) {
    table.rows.push_back({r.name(), fmt::format("{}", fmt::join(r.strategies, " ")), percent(r.by_g.all_right), percent(r.judge_right()),
                          percent(r.by_judge.all_right), percent(r.judge_unguided), percent(r.judge_real),
                          fmt::format("{:.4f}", r.mean_abs_dp), percent(r.by_judge.drift), percent(r.by_judge.drift_unguided)});
  }
  return table;
}

// As many edited images as there are unguided ones, taken evenly over the edits: Fréchet distances of equal N.
Tensor spread(const std::vector<EditFigures>& results, std::int64_t count) {
  std::vector<Tensor> all;
  for (const auto& r : results) all.push_back(r.bytes);
  const auto images = torch::cat(all);
  const auto n = std::min(count, images.size(0));
  return images.index_select(0, (torch::arange(n, torch::kInt64) * images.size(0)).floor_divide(n));
}

Json json_of(const std::vector<EditFigures>& results) {
  Json list = Json::array();
  for (const auto& r : results) {
    list.push_back({{"edit", r.name()}, {"strategies", r.strategies}, {"agreement", r.by_g.all_right},
                    {"judge_agreement", r.judge_right()}, {"judge_all_right", r.by_judge.all_right},
                    {"judge_unguided", r.judge_unguided}, {"judge_real", r.judge_real}, {"mean_abs_dp", r.mean_abs_dp},
                    {"drift", r.by_judge.drift}, {"drift_unguided", r.by_judge.drift_unguided},
                    {"seconds_per_image", r.seconds_per_image}});
  }
  return list;
}

Picture picture_of(const std::vector<EditFigures>& results, const Tensor& unguided) {
  const std::int64_t columns = std::min<std::int64_t>(8, unguided.size(0));
  std::vector<Tensor> rows = {unguided.slice(0, 0, columns)};
  GridOptions options{.columns = columns, .scale = 2, .row_labels = {"unguided"}};
  for (const auto& r : results) {
    if (r.bytes.size(0) < columns) continue;
    rows.push_back(r.bytes.slice(0, 0, columns));
    options.row_labels.push_back(r.name());
  }
  return picture("Each column is one seed, each row one edit", grid(torch::cat(rows), options));
}

Json summary_json(const EditingExperiment& job, const std::vector<EditFigures>& results, const std::vector<EditFigures>& single,
                  double frechet, double frechet_prior, std::int64_t frechet_images) {
  const auto& figures = single.empty() ? results : single;
  const double right = mean_of(figures, [](const auto& r) { return r.judge_right(); });
  const double free = mean_of(figures, [](const auto& r) { return r.judge_unguided; });
  const double real = mean_of(figures, [](const auto& r) { return r.judge_real; });
  return {{"seeds", job.seeds},
          {"agreement", mean_of(figures, [](const auto& r) { return r.by_g.all_right; })},
          {"mean_abs_dp", mean_of(figures, [](const auto& r) { return r.mean_abs_dp; })},
          {"judge_agreement", right},
          {"judge_unguided", free},
          {"judge_real", real},
          {"transfer_score", transfer_score(right, free, real)},
          {"drift", mean_of(figures, [](const auto& r) { return r.by_judge.drift; })},
          {"drift_unguided", mean_of(figures, [](const auto& r) { return r.by_judge.drift_unguided; })},
          {"frechet", frechet},
          {"frechet_prior", frechet_prior},
          {"frechet_images", frechet_images},
          {"seconds_per_image", mean_of(results, [](const auto& r) { return r.seconds_per_image; })},
          {"edits", json_of(results)},
          {"sampling", to_json(job.sampling)},
          {"guidance", to_json(job.guidance)}};
}

}  // namespace

ExperimentResult Engine::evaluate_editing(const EditingExperiment& asked, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto e = open_experiment(asked, std::max<std::int64_t>(asked.seeds, 2), observer);
  auto job = asked;
  job.guidance = for_editing(asked.guidance, e.models.classifier, observer);
  require(e.task == Task::attributes, "evaluate editing", "a classifier of attributes", "one of classes");
  const auto edits = edits_of(job, e.names());
  for (const auto& requests : edits) attribute_changes(requests, e.names());   // names are checked before the work begins
  const auto g = make_projector(e.models.classifier, job.guidance);

  observer.message(fmt::format("{} unguided samples", job.unguided));
  Unguided unguided;
  unguided.bytes = sample_all(*e.models.prior, sampler_config(job.sampling, e.models.device()),
                              ImageSeeds(job.seed, std::max(job.unguided, job.seeds)), {.size = job.sampling.batch, .kept = e.kept}, observer).to(torch::kCPU);
  unguided.opinion = opinion_on(*e.judge.net, unguided.bytes);
  unguided.y = outputs_of(*g, to_unit(unguided.bytes), e.models.device());
  const auto held_out = opinion_on(*e.judge.net, e.held_out.images);
  const auto y_held_out = outputs_over(e.held_out, [&](const Tensor& x) { return outputs_of(*g, x, e.models.device()); });

  std::vector<EditFigures> results, single;
  for (const auto& requests : edits) {
    results.push_back(run_edit(job, e, *g, requests, unguided, held_out.logits, y_held_out, observer));
    observer.message(fmt::format("{}: judge {}", results.back().name(), percent(results.back().judge_right())));
    if (requests.size() == 1) single.push_back(results.back());
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < job.seeds; ++i) names.push_back(fmt::format("{}-{}.png", results.back().name(), job.seed + static_cast<std::uint64_t>(i)));
    save_images(job.output, names, results.back().bytes);
  }
  const auto reference = gaussian_of(held_out.features);
  const auto edited = spread(results, unguided.bytes.size(0));
  const auto count = edited.size(0);
  const double frechet = frechet_distance(gaussian_of(opinion_on(*e.judge.net, edited).features), reference);
  const double frechet_prior = frechet_distance(gaussian_of(unguided.opinion.features.slice(0, 0, count)), reference);

  const auto table = table_of(results);
  const auto json = summary_json(job, results, single, frechet, frechet_prior, count);
  const auto sentence = fmt::format(
      "{} seeds per edit. Mean over single attributes: the judge agrees with {}; other attributes changed {} (two unguided "
      "samples differ in {}). Fréchet distance {:.1f}, unguided {:.1f} ({} images each).",
      job.seeds, percent(json["judge_agreement"]), percent(json["drift"]), percent(json["drift_unguided"]), frechet,
      frechet_prior, count);
  ExperimentResult out{.summary = text_table(table) + sentence + "\n", .json = json.dump(2), .page = {}};
  if (!job.report.empty()) {
    out.page = add_to_report(job.report, {.name = "editing", .title = "Editing", .command = job.command, .order = 20,
                                          .text = {sentence}, .tables = {table}, .charts = {},
                                          .pictures = {picture_of(results, unguided.bytes)}}).string();
  }
  return out;
}

}  // namespace spnn::engine
