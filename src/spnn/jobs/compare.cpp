#include <spnn/engine/engine.h>
#include <spnn/jobs/experiment.h>
#include <spnn/jobs/field_session.h>
#include <spnn/jobs/peak_memory.h>
#include <spnn/core/errors.h>
#include <spnn/evaluation/feature_distance.h>
#include <spnn/evaluation/frechet.h>
#include <spnn/evaluation/image_quality.h>
#include <spnn/image/grid.h>
#include <spnn/image/image.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

namespace spnn::engine {
namespace {

// One degradation with one noise: a block of rows and a figure.
struct Case {
  std::string spec;
  MeasurementNoise noise;
  std::string name() const { return fmt::format("{} σ={}", spec, to_string(noise)); }
};

std::vector<Case> cases_of(const CompareJob& job) {
  std::vector<Case> cases;
  for (const auto& text : job.operators) {
    if (const auto at = text.rfind('@'); at != std::string::npos) {
      cases.push_back({text.substr(0, at), noise_from(text.substr(at + 1))});
      continue;
    }
    for (const auto& noise : job.noises) cases.push_back({text, noise_from(noise)});
  }
  return cases;
}

struct Row {
  std::string degradation, noise, method;
  double psnr = 0, ssim = 0, frechet = 0, sampled = 0, saved = 0, seconds = 0, megabytes = 0;
  double clean = 0;       // ‖g(x̂) − g(x)‖ of the saved images
  double processor = 0;   // seconds of all threads: other work on the machine does not count
  std::int64_t evaluations = 0;
  std::vector<double> psnrs = {}, cleans = {};   // of each image, for paired differences
  std::optional<double> crops = {};     // Fréchet distance of crops at full size, of large images
  std::optional<double> features = {};  // distance to the clean images in the identity network's feature maps
  std::optional<double> truth = {};   // rms of D(x̂) − D(x) of the saved images, where g was fitted to D
};

// Mean and standard error of what a method gains over another on the same images.
struct Gain {
  double mean = 0, error = 0;
};

// Over the first row of the same operator and noise that a method of the table made: nlbp unless others were asked for.
std::optional<Gain> gain_of(const std::vector<Row>& rows, const Row& row) {
  const auto base = std::ranges::find_if(rows, [&](const Row& r) { return r.degradation == row.degradation && r.noise == row.noise && r.method != "degraded"; });
  if (base == rows.end() || base->method == row.method || base->psnrs.size() != row.psnrs.size()) return {};
  const auto n = static_cast<double>(row.psnrs.size());
  Gain gain;
  for (std::size_t i = 0; i < row.psnrs.size(); ++i) gain.mean += (row.psnrs[i] - base->psnrs[i]) / n;
  for (std::size_t i = 0; i < row.psnrs.size(); ++i) gain.error += std::pow(row.psnrs[i] - base->psnrs[i] - gain.mean, 2);
  gain.error = std::sqrt(gain.error / (n - 1) / n);
  return gain;
}

std::string gain_text(const std::optional<Gain>& gain) { return gain ? fmt::format("{:+.2f} ± {:.2f}", gain->mean, gain->error) : ""; }

std::vector<double> numbers_of(const Tensor& of_each_image) {
  const auto each = of_each_image.to(torch::kCPU, torch::kFloat64).contiguous();
  return {each.data_ptr<double>(), each.data_ptr<double>() + each.numel()};
}

double mean_of(const std::vector<double>& numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size()); }

Table table_of(const std::vector<Row>& rows, std::int64_t images) {
  Table table{.title = fmt::format("{} images; σ and ‖g(x)−y‖ (root mean square) in [0, 1] pixel units; evaluations of the prior and seconds are per image", images),
              .columns = {"operator", "σ", "method", "PSNR dB", "± to the first", "SSIM", "Fréchet", "‖g(x)−y‖ sampled", "saved", "to the clean", "s", "evaluations", "peak MB"}};
  const bool any_truth = std::ranges::any_of(rows, [](const Row& r) { return r.truth.has_value(); });
  const bool any_crops = std::ranges::any_of(rows, [](const Row& r) { return r.crops.has_value(); });
  const bool any_features = std::ranges::any_of(rows, [](const Row& r) { return r.features.has_value(); });
  if (any_crops) table.columns.push_back("Fréchet of crops");
  if (any_features) table.columns.push_back("feature distance");
  if (any_truth) table.columns.push_back("‖D(x̂)−D(x)‖ saved");
  for (const auto& r : rows) {
    table.rows.push_back({r.degradation, r.noise, r.method, fmt::format("{:.2f}", r.psnr),
                          gain_text(gain_of(rows, r)), fmt::format("{:.4f}", r.ssim), fmt::format("{:.1f}", r.frechet),
                          fmt::format("{:.2e}", r.sampled), fmt::format("{:.2e}", r.saved), fmt::format("{:.2e}", r.clean),
                          fmt::format("{:.3f}", r.seconds), std::to_string(r.evaluations),
                          fmt::format("{:.0f}", r.megabytes)});
    if (any_crops) table.rows.back().push_back(r.crops ? fmt::format("{:.1f}", *r.crops) : "");
    if (any_features) table.rows.back().push_back(r.features ? fmt::format("{:.4f}", *r.features) : "");
    if (any_truth) table.rows.back().push_back(r.truth ? fmt::format("{:.2e}", *r.truth) : "");
  }
  return table;
}

class Comparison {
 public:
  Comparison(const CompareJob& job, Observer& observer)
      : job_(job), observer_(observer), cases_(cases_of(job)), loaded_({.models = job.models, .device = job.device}),
        prior_(loaded_.large_prior()),
        judge_(load_judge(model_file(job.models.judge, job.models.family, "judge"))), config_(method_config(job.options, job.sampling, loaded_.device())) {
    require_pools_to(judge_.net->in_shape(), "judge");
    for (const auto& name : job.methods) method_info(name);
    if (!job.identity.empty()) {
      identity_ = load_identity(job.identity);
      require_pools_to(identity_->in_shape(), job.identity);
    }
    // Everything that can be refused is refused before hours of work.
    for (const auto& c : cases_) {
      degradations_.push_back(degradation(c));
      if (c.noise.kind == MeasurementNoise::Kind::poisson) degradations_.back().measure(torch::zeros(prior_->shape().batched(1), loaded_.device()), c.noise, {0});
    }
    const auto held_out = held_out_images();
    clean_ = held_out.slice(0, 0, job.images);
    reference_ = features(held_out);
    if (large()) crops_reference_ = gaussian_of(crop_features(*judge_.net, held_out, Rng(job.seed).fork(0)));
    if (writes()) require_writable_folder(job.output);
    kept_ = kept_batches(job.sampling);
  }

  ExperimentResult run() {
    std::int64_t runs = 0;
    for (const auto& g : degradations_) runs += std::ssize(methods_for(g));
    const auto batches = (job_.images + job_.sampling.batch - 1) / job_.sampling.batch;
    PartOfWhole progress(observer_, runs * batches);
    try {
      for (std::size_t c = 0; c < cases_.size(); ++c) compare_case(cases_[c], degradations_[c], progress);
    } catch (const Interrupted&) {
      if (rows_.empty()) throw;
      write();
      throw Interrupted(fmt::format("interrupted: {} of {} rows are in {}", rows_.size(), runs, job_.output));
    }
    const auto page = write();
    return {.summary = text_table(table_of(rows_, job_.images)), .json = json().dump(2), .page = page};
  }

 private:
  bool writes() const { return !job_.output.empty(); }
  bool large() const { return loaded_.upscaler() != nullptr; }

  // Large images are pooled for networks of small ones; others have to be of their size.
  void require_pools_to(const Shape& shape, const std::string& where) const {
    const auto small = large() ? loaded_.prior()->shape() : prior_->shape();
    require(shape == small, where, fmt::format("one of {} images", to_string(small)), to_string(shape));
  }

  Degradation degradation(const Case& c) const {
    return open_degradation(loaded_, {.spec = c.spec, .masks = {}, .metric = metric_from(job_.options.metric),
                                      .pseudo_inverse = pseudo_inverse_from(job_.options.pseudo_inverse)});
  }

  Tensor held_out_images() const {
    Dataset set;
    try {
      set = load_held_out(job_.data, prior_->shape(), observer_, job_.held_out);
    } catch (const Interrupted&) {
      throw;
    } catch (const UsageError&) {
      throw;
    } catch (const Error&) {
      if (job_.held_out.split != HeldOutChoice{}.split) throw;
      // a folder too small to have a split: all of it, and what is really wrong is said there
    }
    if (set.size() < job_.images && job_.held_out.split == HeldOutChoice{}.split) {
      set = load_dataset(job_.data, {.split = Split::all, .size = prior_->shape().height, .channels = prior_->shape().channels}, &observer_);
    }
    require(job_.images >= 2 && set.size() >= job_.images, "images", fmt::format("a number from 2 to {}", set.size()), std::to_string(job_.images));
    return set.images;
  }

  Gaussian features(const Tensor& images) const { return gaussian_of(opinion_on(*judge_.net, pooled_to(judge_.net->in_shape(), images)).features); }

  std::vector<std::string> methods_for(const Degradation& g) const {
    std::vector<std::string> names;
    for (const auto& info : method_catalogue()) {
      const bool wanted = job_.methods.empty() || std::ranges::find(job_.methods, info.name) != job_.methods.end();
      if (wanted && (g.linear || !info.linear_only)) names.push_back(info.name);
    }
    return names;
  }

  void compare_case(const Case& c, const Degradation& g, PartOfWhole& progress) {
    const auto x = to_unit(clean_).to(loaded_.device());
    const auto y = g.measure(x, c.noise, seeds_from(job_.seed, job_.images));
    const auto shown = clean_.slice(0, 0, job_.shown);
    std::vector<Tensor> figure = {shown, figure_of_measurement(g, y.slice(0, 0, job_.shown), shown.to(loaded_.device())).to(torch::kCPU)};
    if (g.has_truth()) rate_degraded(c, g, y);
    std::vector<std::string> labels = {"clean", "measured"};
    for (const auto& method : methods_for(g)) {
      progress.what = fmt::format("steps ({}, {})", c.name(), method);
      const auto bytes = run_method(c, g, y, method, progress);
      figure.push_back(bytes.slice(0, 0, job_.shown));
      labels.push_back(method);
      write_rows();
    }
    const auto columns = std::ssize(labels);
    const auto sheet = grid(torch::stack(figure, 1).flatten(0, 1), {.columns = columns, .scale = 1, .column_labels = labels});
    auto file = fmt::format("{}_{}", c.spec, to_string(c.noise));
    std::ranges::replace_if(file, [](char ch) { return ch == '/' || ch == ':' || ch == ';'; }, '-');
    if (writes()) write_image(std::filesystem::path(job_.output) / (file + ".png"), sheet);
    pictures_.push_back(picture(c.name(), sheet));
  }

  Tensor run_method(const Case& c, const Degradation& g, const Tensor& y, const std::string& method, PartOfWhole& progress) {
    Row row{.degradation = c.spec, .noise = to_string(c.noise), .method = method};
    std::vector<Tensor> parts;
    PeakMemory::restart();
    const auto make = [&](std::int64_t first, std::int64_t last) {
      const auto part = y.slice(0, first, last);
      return tensors_of(solve(method, {*prior_, g, part, sigmas_of(c.noise, part), seeds_from(job_.seed + static_cast<std::uint64_t>(first), last - first)},
                              config_, progress));
    };
    const auto take = [&](std::int64_t, const KeptBatches::Batch& batch) {
      const auto solved = solved_of(batch);
      parts.push_back(solved.bytes.to(torch::kCPU));
      const double share = 1 / static_cast<double>(job_.images);
      row.sampled += solved.sampled.sum().item<double>() * share;
      row.saved += solved.saved.sum().item<double>() * share;
      row.seconds += solved.seconds * share;
      row.processor += solved.processor_seconds * share;
      row.evaluations = solved.evaluations;
      ++progress.part;
    };
    in_batches(job_.images, {.size = job_.sampling.batch, .kept = kept_}, observer_, make, take);
    row.megabytes = PeakMemory::megabytes();
    const auto bytes = torch::cat(parts);
    rate(row, g, bytes);
    return bytes;
  }

  void rate(Row row, const Degradation& g, const Tensor& bytes) {
    row.psnrs = numbers_of(psnr(bytes, clean_));
    row.psnr = mean_of(row.psnrs);
    row.cleans = numbers_of(g.inconsistency(to_unit(bytes).to(loaded_.device()), g.g->forward(to_unit(clean_).to(loaded_.device()))));
    row.clean = mean_of(row.cleans);
    row.ssim = ssim(bytes, clean_).mean().item<double>();
    row.frechet = frechet_distance(features(bytes), reference_);
    if (large()) row.crops = frechet_distance(gaussian_of(crop_features(*judge_.net, bytes, Rng(job_.seed).fork(1))), crops_reference_);
    if (identity_) {
      const auto small = [&](const Tensor& images) { return pooled_to(identity_->in_shape(), images); };
      row.features = feature_distance(*identity_, small(bytes), small(clean_)).mean().item<double>();
    }
    if (g.has_truth()) row.truth = g.true_inconsistency(to_unit(bytes), g.fitted->D(to_unit(clean_))).mean().item<double>();
    rows_.push_back(row);
  }

  // D(x) left as it is: what a restoration has to be better than.
  void rate_degraded(const Case& c, const Degradation& g, const Tensor& y) {
    const auto bytes = to_bytes(g.fitted->D(to_unit(clean_)));
    Row row{.degradation = c.spec, .noise = to_string(c.noise), .method = "degraded"};
    row.sampled = row.saved = g.inconsistency(to_unit(bytes).to(loaded_.device()), y).mean().item<double>();
    rate(row, g, bytes);
  }

  // After every row: what an interrupt leaves is on the disk.
  void write_rows() const {
    if (writes()) write_text_atomically(std::filesystem::path(job_.output) / "comparison.csv", render_csv(table_of(rows_, job_.images)));
  }

  std::string write() {
    if (!writes()) return {};
    ReportSection section{.name = "comparison", .title = "Every method on every operator", .command = job_.command, .order = 40,
                          .text = {fmt::format("{} steps of {} unless a method has its own; image i has seed {} + i in every row.", job_.sampling.steps,
                                               job_.sampling.sampler, job_.seed),
                                   "Fréchet distances are in the judge's features, to all held-out images; with few images they are large: compare within this table."},
                          .tables = {table_of(rows_, job_.images)}, .charts = {}, .pictures = pictures_};
    return add_to_report(job_.output, section).string();
  }

  Json json() const {
    Json rows = Json::array();
    for (const auto& r : rows_) {
      rows.push_back({{"operator", r.degradation}, {"noise", r.noise}, {"method", r.method}, {"psnr", r.psnr}, {"ssim", r.ssim}, {"frechet", r.frechet},
                      {"consistency_sampled", r.sampled}, {"consistency_saved", r.saved}, {"seconds_per_image", r.seconds}, {"evaluations", r.evaluations},
                      {"peak_megabytes", r.megabytes}});
      rows.back()["psnrs"] = r.psnrs;
      rows.back()["processor_seconds_per_image"] = r.processor;
      rows.back()["consistency_clean"] = r.clean;
      rows.back()["consistencies_clean"] = r.cleans;
      if (const auto gain = gain_of(rows_, r)) rows.back()["psnr_gain"] = {{"mean", gain->mean}, {"error", gain->error}};
      if (r.crops) rows.back()["frechet_crops"] = *r.crops;
      if (r.features) rows.back()["feature_distance"] = *r.features;
      if (r.truth) rows.back()["consistency_with_D"] = *r.truth;
    }
    return {{"images", job_.images}, {"rows", rows}, {"sampling", to_json(job_.sampling)}};
  }

  const CompareJob& job_;
  Observer& observer_;
  std::vector<Case> cases_;
  LoadedModels loaded_;
  std::shared_ptr<const Denoiser> prior_;
  JudgeModel judge_;
  std::shared_ptr<Identity> identity_;   // none: no feature distances
  MethodConfig config_;
  std::vector<Degradation> degradations_;
  Tensor clean_;
  Gaussian reference_, crops_reference_;   // of all held-out images; of crops of them, where they are large
  std::vector<Row> rows_;
  std::vector<Picture> pictures_;
  std::shared_ptr<KeptBatches> kept_;
};

}  // namespace

ExperimentResult Engine::compare(const CompareJob& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  return Comparison(job, observer).run();
}

}  // namespace spnn::engine
