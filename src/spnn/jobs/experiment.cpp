#include <spnn/data/subsets.h>
#include <spnn/jobs/experiment.h>
#include <spnn/core/errors.h>
#include <spnn/core/stopwatch.h>
#include <spnn/evaluation/detail_measures.h>
#include <spnn/image/image.h>

#include <algorithm>
#include <cmath>

namespace spnn::engine {

Dataset load_held_out(const std::string& data, const Shape& shape, Observer& observer, const HeldOutChoice& choice) {
  const bool half = choice.split == "val-a" || choice.split == "val-b";
  LoadOptions options{.split = half ? Split::val : split_from(choice.split), .size = shape.height, .channels = shape.channels};
  auto set = load_dataset(data, options, &observer);
  if (set.size() == 0 && options.split == Split::val && !half) {
    options.split = Split::test;
    set = load_dataset(data, options, &observer);
  }
  if (half && choice.identities.empty()) throw UsageError("--split " + choice.split + ": expected --identities FILE, as halves are of people, got none");
  if (choice.one_each && choice.identities.empty()) throw UsageError("--one-each: expected --identities FILE, got none");
  const auto people = choice.identities.empty() ? Identities{} : read_identities(choice.identities);
  if (half) set = half_by_person(set, people, choice.split.back());
  require(set.size() > 0, data, fmt::format("images of the split {}", choice.split), "none");
  observer.message(fmt::format("held out: {} images of {}, in the order of seed {}", set.size(), half ? choice.split : std::string(to_string(options.split)), choice.seed));
  set = shuffled(set, choice.seed);
  return choice.one_each ? everybody_first(set, people) : set;
}

Experiment open_experiment(const ExperimentJob& job, std::int64_t images, Observer& observer) {
  const LoadedModels loaded({.models = job.models, .device = job.device});
  Experiment e{.models = loaded.restoration(), .judge = loaded.judge(), .task = {}, .held_out = {}, .train = {}, .y_real = {}, .second = loaded.upscaler(),
               .kept = kept_batches(job.sampling)};
  e.task = task_from(e.models.classifier.outputs.task);
  const auto shape = e.models.shape();
  e.held_out = load_held_out(job.data, shape, observer, job.held_out);
  require(e.held_out.size() >= images && images >= 2, "images", fmt::format("a number from 2 to {}", e.held_out.size()),
          std::to_string(images));
  e.train = load_dataset(job.data, {.split = Split::train, .size = shape.height, .channels = shape.channels, .limit = images},
                         &observer);
  e.y_real = e.models.classifier.net->forward(to_unit(e.held_out.images.slice(0, 0, images)).to(loaded.device())).to(torch::kCPU);
  return e;
}

Baseline baseline_of(const Experiment& e, const Tensor& unguided) {
  const auto held_out = opinion_on(*e.judge.net, e.held_out.images);
  const auto n = e.y_real.size(0);
  return make_baseline(e.y_real, {held_out.logits.slice(0, 0, n), held_out.features.slice(0, 0, n)},
                       opinion_on(*e.judge.net, unguided), held_out.features,
                       opinion_on(*e.judge.net, e.train.images).features);
}

Tensor unguided_samples(const Experiment& e, const SamplingOptions& sampling, std::uint64_t seed, std::int64_t count, Observer& observer) {
  auto config = sampler_config(sampling, e.models.device());
  config.travel = {};
  return sample_all(*e.models.prior, config, ImageSeeds(seed, count), {.size = sampling.batch, .kept = e.kept}, observer).to(torch::kCPU);
}

Reconstruction reconstruct_held_out(const Experiment& e, const Baseline& baseline, const GuidanceOptions& guidance,
                                    const SamplingOptions& sampling, std::uint64_t seed, Observer& observer) {
  const auto g = make_projector(e.models.classifier, guidance);
  const auto count = baseline.target.size(0);
  RestorationTask task{.seeds = ImageSeeds(seed, count),
                       .target = [&](std::int64_t first, std::int64_t last) { return fixed(baseline.target.slice(0, first, last)); },
                       .guidance = make_guidance(guidance),
                       .kept = e.kept};
  if (e.second) task.large = enlargement(e.second, g, sampling, task.seeds);
  const Stopwatch watch;
  const auto done = restore(*e.models.prior, *g, restorer_config(guidance, sampling, e.models.device()), task, observer);
  const double seconds = watch.seconds() / static_cast<double>(count);
  const auto saved = through_png(done.bytes);
  const BackProjector& of_the_saved = e.second ? *task.large.g : *g;
  const RestoredSet set{.y = outputs_of(of_the_saved, to_unit(saved), e.models.device()), .opinion = opinion_on(*e.judge.net, pooled_to(e.judge.net->in_shape(), saved)),
                        .consistency_before = done.before.mean().item<double>(), .seconds_per_image = seconds};
  return {saved, measure(e.task, set, baseline)};
}

Tensor crop_features(const Judge& judge, const Tensor& images, const Rng& places) {
  constexpr std::int64_t crops_of_an_image = 4;
  return opinion_on(judge, random_crops(images, judge.in_shape().height, crops_of_an_image, places)).features;
}

Tensor outputs_of(const BackProjector& g, const Tensor& x, torch::Device device) { return g.forward(x.to(device)).to(torch::kCPU); }

Tensor through_png(const Tensor& bytes) {
  std::vector<Tensor> images;
  for (std::int64_t i = 0; i < bytes.size(0); ++i) {
    images.push_back(decode_image(encode_image(bytes[i], ".png"), "a saved image"));
  }
  return torch::stack(images);
}

StepCost step_cost(const RestorationModels& models, const BackProjector& g, std::int64_t batch) {
  const auto x = Rng(1).randn(models.shape().batched(batch)).clamp(-1, 1).to(models.device());
  const auto y = g.forward(x);
  const auto lambda = torch::ones({batch}, x.options());
  StepCost best{.prior_seconds = INFINITY, .nlbp_seconds = INFINITY};
  for (int k = 0; k < 5; ++k) {   // interleaved, the best of each: what the machine does besides counts for neither
    const Stopwatch of_prior;
    models.prior->eps(x, 500);
    best.prior_seconds = std::min(best.prior_seconds, of_prior.seconds());
    const Stopwatch of_nlbp;
    g.nlbp(g.probe(x), y, lambda);
    best.nlbp_seconds = std::min(best.nlbp_seconds, of_nlbp.seconds());
  }
  return best;
}

void save_images(const std::string& folder, const std::vector<std::string>& names, const Tensor& bytes) {
  if (folder.empty()) return;
  require_writable_folder(folder);
  for (std::int64_t i = 0; i < bytes.size(0); ++i) {
    const auto stem = std::filesystem::path(names[static_cast<std::size_t>(i)]).stem().string();
    write_image(std::filesystem::path(folder) / (stem + ".png"), bytes[i]);
  }
}

Json to_json(const SamplingOptions& o) {
  return {{"steps", o.steps}, {"sampler", o.sampler}, {"eta", o.eta}, {"travel_length", o.travel_length},
          {"travel_repeat", o.travel_repeat}, {"batch", o.batch}};
}

Json to_json(const GuidanceOptions& o) {
  return {{"pseudo_inverse", o.pseudo_inverse}, {"metric", o.metric}, {"schedule", o.schedule}, {"lambda", o.lambda},
          {"late", o.late}, {"late_below", o.late_below}, {"alpha", o.alpha}, {"gamma", o.gamma},
          {"window_from", o.window_from.value()}, {"window_to", o.window_to}, {"every", o.every}, {"final_projections", o.final_projections}};
}

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "–"; }

std::string text_table(const Table& table) {
  // Widths count characters, not bytes: continuation bytes of UTF-8 take no column.
  const auto width = [](const std::string& text) {
    return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  };
  std::vector<std::ptrdiff_t> widths;
  for (const auto& column : table.columns) widths.push_back(width(column));
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width(row[c]));
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& row) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string space(static_cast<std::size_t>(widths[c] - width(row[c])), ' ');
      out += c == 0 ? row[c] + space : "  " + space + row[c];
    }
    out += "\n";
  };
  line(table.columns);
  for (const auto& row : table.rows) line(row);
  return out;
}

}  // namespace spnn::engine
