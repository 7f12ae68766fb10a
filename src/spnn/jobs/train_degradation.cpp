#include <spnn/engine/engine.h>
#include <spnn/jobs/training_session.h>
#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/errors.h>
#include <spnn/core/io.h>
#include <spnn/data/pairs.h>
#include <spnn/degradations/black_box.h>
#include <spnn/image/image.h>
#include <spnn/training/classifier.h>
#include <spnn/training/plain_cnn.h>

#include <chrono>
#include <cmath>

namespace spnn::engine {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of a training step without the optimiser, for equal time.
double seconds_per_step(Objective& objective) {
  constexpr int unmeasured = 2, measured = 8;
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < unmeasured + measured; ++i) {
    if (i == unmeasured) start = std::chrono::steady_clock::now();
    Tensor total;
    for (const auto& [name, value] : objective.losses(i, {})) total = total.defined() ? total + value : value;
    total.backward();
    objective.module().zero_grad();
  }
  return seconds_since(start) / measured;
}

// What was asked for, found to be possible before there is a run: a refused command leaves none behind. None for pairs.
BlackBox asked_black_box(const DegradationJob& job, const DegradationRecipe& recipe) {
  const bool paired = !job.clean.empty();
  if (paired == !job.degradation.empty()) {
    throw UsageError(fmt::format("train degradation: expected --operator or --pairs, got {}", paired ? "both" : "neither"));
  }
  if (paired) return {};
  if (job.data.empty()) throw UsageError("train degradation --operator: expected --data with pictures to degrade, got none");
  return make_black_box(job.degradation, recipe.picture());
}

// The pictures before and after, wherever they come from.
class Material {
 public:
  Material(const DegradationJob& job, const DegradationRecipe& recipe, BlackBox D, const TrainingSession& session) : D_(std::move(D)) {
    if (D_) {
      auto sets = session.load_labelled(recipe.image_size, recipe.channels);
      train_.clean = std::move(sets.train);
      val_.clean = std::move(sets.val);
      return;
    }
    auto sets = load_pairs(job.clean, job.degraded, recipe.picture());
    train_ = std::move(sets.train);
    val_ = std::move(sets.val);
    session.observer().message(fmt::format("{} pairs to train on and {} held out", train_.clean.size(), val_.clean.size()));
  }

  DegradedImages train() const { return of(train_); }
  DegradedImages val() const { return of(val_); }
  bool paired() const { return !D_; }

 private:
  DegradedImages of(const Pairs& pairs) const {
    if (D_) return {pairs.clean, [this](const Batch& batch) { return D_(batch.images); }};
    return {pairs.clean, [&pairs](const Batch& batch) { return to_unit(pairs.degraded.index_select(0, batch.indices)); }};
  }

  BlackBox D_;
  Pairs train_, val_;
};

DegradationRecipe recipe_of(const DegradationJob& job) {
  auto recipe = (job.config.empty() ? Json::object() : read_config(job.config)).get<DegradationRecipe>();
  if (job.steps > 0) recipe.train.steps = job.steps;
  if (!job.keep.empty()) recipe.keep = job.keep;
  if (recipe.keep.empty()) recipe.keep = default_reduction(recipe.picture());
  if (!job.clean.empty()) recipe.augment = recipe.inverse.augment = {.flip = false};   // a pair is what it is
  return recipe;
}

class DegradationTraining {
 public:
  DegradationTraining(const DegradationJob& job, Observer& observer)
      : job_(job), part_(job), recipe_(recipe_of(job)), T_(recipe_.keep, recipe_.picture()), box_(asked_black_box(job, recipe_)), session_(part_, observer),
        material_(job, recipe_, std::move(box_), session_) {}

  DegradationReport run() {
    fit();
    invert();
    if (job_.baseline) compare_with_plain_cnn();
    finish();
    return report_;
  }

 private:
  using Map = std::function<Tensor(const Tensor&)>;

  // A run of its own in a folder of this one: each part is resumed, or found finished.
  double train(const std::string& folder, Objective& objective, const TrainConfig& config) {
    part_.run = (std::filesystem::path(job_.run) / folder).string();
    Json run{{"trainer", "degradation"}, {"part", folder}, {"config", recipe_}, {"operator", job_.degradation}};
    run["config"]["train"] = config;
    const auto start = std::chrono::steady_clock::now();
    session_.train(objective, config, run);
    return seconds_since(start);
  }

  std::filesystem::path best_of(const std::string& folder) const { return std::filesystem::path(job_.run) / folder / "best.safetensors"; }

  DegradationReport::Row row(const std::string& name, const Map& map) const {
    const auto error = fit_error(map, T_, material_.val(), fit_images);
    return {.name = name, .rms = error.rms, .psnr = error.psnr};
  }

  void say(const DegradationReport::Row& r) const {
    session_.observer().message(fmt::format("{}: rms {:.5f}, PSNR {:.2f} dB on held-out pictures", r.name, r.rms, r.psnr));
  }

  void fit() {
    report_.rows.push_back(row("T x, no training", [&](const Tensor& x) { return T_.forward(x); }));
    say(report_.rows.back());
    std::map<std::string, std::string> about;
    if (!job_.degradation.empty()) about["black_box"] = job_.degradation;
    DegradationObjective objective(recipe_, T_, material_.train(), material_.val(), about);
    parameters_ = parameter_count(objective.net().g_parameters());
    seconds_per_step_ = job_.baseline ? seconds_per_step(objective) : 0;
    seconds_ = train("g", objective, recipe_.train);
  }

  // r alone; g's weights stay.
  void invert() {
    auto content = read_safetensors(best_of("g"));
    content.metadata.erase("checksum");
    const auto fitted = load_spnn(best_of("g")).net;
    // Of training pictures: the held-out ones are for figures.
    content.metadata["fit"] = Json(fit_statistics([&](const Tensor& x) { return fitted->forward(x); }, T_, material_.train(), fit_images)).dump();
    InverseObjective objective(recipe_.inverse, {.net = fitted, .carried = {}, .metadata = std::move(content.metadata)},
                               material_.train().clean, material_.val().clean);
    train("inverse", objective, recipe_.inverse.train);
    if (session_.leads()) write_atomically(model(), FileContent(best_of("inverse")).bytes());
    const auto net = load_spnn(best_of("inverse")).net;
    auto figures = row("g", [&](const Tensor& x) { return net->forward(x); });
    figures.parameters = parameters_;
    figures.steps = recipe_.train.steps;
    figures.seconds = seconds_;
    report_.rows.push_back(figures);
    say(figures);
    report_.inverse_psnr = 10 * std::log10(4 / stability_over(material_.val().clean, *net, "r", fit_images));
  }

  void compare_with_plain_cnn() {
    PlainCnnObjective objective(recipe_, T_, material_.train(), material_.val(), parameters_);
    auto config = recipe_.train;
    config.steps = std::max<std::int64_t>(1, std::llround(static_cast<double>(config.steps) * seconds_per_step_ / seconds_per_step(objective)));
    const auto seconds = train("cnn", objective, config);
    load_into(objective.module(), read_safetensors(best_of("cnn")).tensors, best_of("cnn").string());
    auto plain = row("plain CNN", [&](const Tensor& x) { return objective.forward(x); });
    plain.parameters = objective.parameter_count();
    plain.steps = config.steps;
    plain.seconds = seconds;
    report_.rows.push_back(plain);
    say(plain);
  }

  std::filesystem::path model() const { return std::filesystem::path(job_.run) / "degradation.safetensors"; }

  void finish() {
    const auto val = material_.val();
    report_.model = model().string();
    report_.degradation = material_.paired() ? "pairs" : job_.degradation;
    report_.keep = T_.spec();
    report_.inputs = T_.in_shape().size();
    report_.outputs = T_.out_shape().size();
    report_.held_out = std::min(fit_images, val.clean.size());
    const torch::NoGradGuard no_grad;
    const auto v = val.D(make_batch(val.clean, torch::arange(report_.held_out, torch::kInt64)));
    report_.seen_psnr = 10 * std::log10(4 / (T_.picture(T_.forward(v)) - v).square().mean().item<double>());
    if (!session_.leads()) return;
    Json rows = Json::array();
    for (const auto& r : report_.rows) {
      rows.push_back({{"name", r.name}, {"parameters", r.parameters}, {"steps", r.steps}, {"seconds", r.seconds}, {"rms", r.rms}, {"psnr", r.psnr}});
    }
    write_text_atomically(std::filesystem::path(job_.run) / "report.json",
                          Json{{"operator", report_.degradation}, {"keep", report_.keep}, {"held_out", report_.held_out}, {"rows", rows},
                               {"seen_psnr", report_.seen_psnr}, {"inverse_psnr", report_.inverse_psnr}}.dump(2) + "\n");
  }

  const DegradationJob& job_;
  TrainJob part_;                 // what the session looks at: its run is that of the part at work
  DegradationRecipe recipe_;
  Reduction T_;
  BlackBox box_;
  TrainingSession session_;
  Material material_;
  DegradationReport report_;
  std::int64_t parameters_ = 0;
  double seconds_per_step_ = 0, seconds_ = 0;
};

}  // namespace

DegradationReport Engine::train_degradation(const DegradationJob& job, Observer& observer) {
  if (!job.from.empty()) throw UsageError("train degradation --from: expected none, as training begins at T, got '" + job.from + "'");
  return DegradationTraining(job, observer).run();
}

}  // namespace spnn::engine
