#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/core/json_fields.h>
#include <spnn/training/classifier.h>
#include <spnn/training/degradation.h>
#include <spnn/data/task.h>

#include <algorithm>
#include <cmath>

namespace spnn {
namespace {

constexpr std::uint64_t kDegradationInit = 1, kDegradationCurves = 3;
constexpr std::int64_t curve_images = 1024;

void from_json(const Json& json, DegradationLosses& l) {
  JsonFields(json, "losses").optional("task", l.task).optional("regression", l.regression).optional("stability", l.stability)
      .optional("restoration", l.restoration).no_others();
  require(l.task > 0 && l.regression >= 0 && l.stability >= 0 && l.restoration >= 0, "losses", "a task above 0 and other weights of 0 or more", json.dump());
}

// What a file need not say.
const Json& usual_training() {
  static const Json json = {{"steps", 3000}, {"batch", 64}, {"lr", 1.5e-3}, {"warmup", 100}, {"decay_from", 0.2}, {"decay", "cosine"}, {"ema", 0.99},
                            {"clip", 1.0}, {"validate_every", 500}, {"checkpoint_every", 200}};
  return json;
}

const Json& usual_inverse() {
  static const Json json = {{"recipe", "fast"}, {"losses", {{"regression", 0}, {"rollout", 1}}},
                            {"train", {{"steps", 1000}, {"batch", 64}, {"lr", 1.5e-3}, {"warmup", 50}, {"decay_from", 0.2}, {"decay", "cosine"}, {"ema", 0.99},
                                       {"clip", 1.0}, {"validate_every", 500}, {"checkpoint_every", 200}}}};
  return json;
}

Json over(Json usual, const Json& said) {
  usual.merge_patch(said);
  return usual;
}

}  // namespace

void to_json(Json& json, const DegradationRecipe& r) {
  json = {{"image_size", r.image_size}, {"channels", r.channels}, {"keep", r.keep}, {"network", r.network},
          {"losses", {{"task", r.losses.task}, {"regression", r.losses.regression}, {"stability", r.losses.stability},
                      {"restoration", r.losses.restoration}}},
          {"augment", r.augment}, {"train", r.train}, {"inverse", r.inverse}};
}

void from_json(const Json& json, DegradationRecipe& r) {
  Json losses = Json::object(), train = Json::object(), inverse = Json::object();
  JsonFields(json, "degradation")
      .optional("image_size", r.image_size).optional("channels", r.channels).optional("keep", r.keep).optional("network", r.network)
      .optional("losses", losses).optional("augment", r.augment).optional("train", train).optional("inverse", inverse).no_others();
  require(r.image_size > 0 && (r.channels == 1 || r.channels == 3), "degradation", "an image_size above 0 and 1 or 3 channels",
          fmt::format("{} and {}", r.image_size, r.channels));
  from_json(losses, r.losses);
  over(usual_training(), train).get_to(r.train);
  over(usual_inverse(), inverse).get_to(r.inverse);
}

FitError fit_error(const std::function<Tensor(const Tensor&)>& g, const Reduction& T, const DegradedImages& images, std::int64_t count) {
  const torch::NoGradGuard no_grad;
  count = std::min(count, images.clean.size());
  double sum = 0;
  for (std::int64_t first = 0; first < count; first += 64) {
    const auto batch = make_batch(images.clean, torch::arange(first, std::min(first + 64, count), torch::kInt64));
    sum += (g(batch.images) - T.forward(images.D(batch))).square().sum().item<double>();
  }
  const auto per = [&](const Shape& shape) { return sum / static_cast<double>(count * shape.size()); };
  return {.rms = std::sqrt(per(T.out_shape())) / 2, .psnr = 10 * std::log10(4 / per(T.in_shape()))};
}

FitStatistics fit_statistics(const std::function<Tensor(const Tensor&)>& g, const Reduction& T, const DegradedImages& images, std::int64_t count) {
  const torch::NoGradGuard no_grad;
  const auto batch = make_batch(images.clean, torch::arange(std::min(count, images.clean.size()), torch::kInt64));
  const auto wanted = T.forward(images.D(batch));
  const auto per_channel = [](const Tensor& y) { return y.to(torch::kFloat64).transpose(0, 1).flatten(1); };
  const auto numbers = [](const Tensor& values) { return std::vector<double>(values.data_ptr<double>(), values.data_ptr<double>() + values.numel()); };
  return {.error = numbers(per_channel(g(batch.images) - wanted).square().mean(1)), .signal = numbers(per_channel(wanted).var(1))};
}

DegradationObjective::DegradationObjective(DegradationRecipe recipe, const Reduction& T, DegradedImages train, DegradedImages val,
                                           std::map<std::string, std::string> about)
    : recipe_(std::move(recipe)),
      T_(T),
      train_(std::move(train)),
      val_(std::move(val)),
      about_(std::move(about)),
      batches_(train_.clean, {.augment = recipe_.augment, .batch = recipe_.train.batch, .seed = recipe_.train.seed}),
      net_(std::make_shared<Spnn>(degradation_network(T, recipe_.network))) {
  require_shape(train_.clean.images, net_->in_shape(), "the degradation's training images");
  start_at(*net_, T, Rng(recipe_.train.seed).fork(kDegradationInit));
  const auto some = Rng(recipe_.train.seed).fork(kDegradationCurves).permutation(train_.clean.size()).slice(0, 0, curve_images);
  const auto batch = make_batch(train_.clean, some);
  const auto degraded = train_.D(batch);
  start_warp(*net_, batch.images, degraded, recipe_.network);
  start_curves(*net_, T, batch.images, degraded);
}

Losses DegradationObjective::losses(std::int64_t step, Share share) {
  const auto& lambda = recipe_.losses;
  const auto batch = batches_.get(step, share);
  const auto wanted = T_.forward(train_.D(batch));
  const MixScope once_per_step(*net_);
  const auto trace = net_->trace(batch.images);
  Losses parts{{"task", lambda.task * task_loss(Task::black_box, trace.y, wanted)}};
  if (lambda.regression > 0) parts.emplace_back("regression", lambda.regression * regression_loss(trace.levels, net_->r_set()));
  if (lambda.stability > 0) parts.emplace_back("stability", lambda.stability * torch::mse_loss(net_->pinv(trace.y), batch.images));
  if (lambda.restoration > 0) parts.emplace_back("restoration", lambda.restoration * torch::mse_loss(net_->pinv(wanted), batch.images));
  return parts;
}

Validation DegradationObjective::validate() {
  const auto error = fit_error([&](const Tensor& x) { return net_->forward(x); }, T_, val_, fit_images);
  const auto batch = make_batch(val_.clean, torch::arange(std::min<std::int64_t>(512, val_.clean.size()), torch::kInt64));
  const auto restored = torch::mse_loss(net_->pinv(T_.forward(val_.D(batch))), batch.images).item<double>();
  return {.score = error.rms, .figures = {{"rms", error.rms}, {"psnr", error.psnr}, {"stability", stability_over(val_.clean, *net_, "r", 512)}, {"restored", 10 * std::log10(4 / restored)}}};
}

std::map<std::string, std::string> DegradationObjective::metadata() const {
  auto out = about_;
  out["kind"] = "spnn";
  out["architecture"] = to_json(net_->config()).dump();
  out["task"] = std::string(to_string(Task::black_box));
  out["keep"] = T_.spec();
  out["recipe"] = Json(recipe_).dump();
  return out;
}

}  // namespace spnn
