#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/core/json_fields.h>
#include <spnn/training/classifier.h>
#include <spnn/training/spnn_recipe.h>

#include <algorithm>
#include <iterator>

namespace spnn {
namespace {

constexpr std::uint64_t kClassifierInit = 1;
constexpr std::int64_t kStabilityImages = 512;   // enough for three digits at every validation

PhaseOneLosses losses_of_recipe(const std::string& recipe) {
  if (recipe == "paper") return {.task = 1, .surjectivity = 40, .stability = 40, .regression = 0};
  if (recipe == "fast") return {.task = 1, .surjectivity = 0, .stability = 0, .regression = 1};
  fail("classifier.recipe", "paper or fast", "'" + recipe + "'");
}

void from_json(const Json& json, PhaseOneLosses& l) {
  JsonFields(json, "losses")
      .optional("task", l.task)
      .optional("surjectivity", l.surjectivity)
      .optional("stability", l.stability)
      .optional("regression", l.regression)
      .optional("range", l.range)
      .no_others();
  require(std::min({l.task, l.surjectivity, l.stability, l.regression, l.range}) >= 0, "losses", "weights of 0 or more",
          json.dump());
}

}  // namespace

void to_json(Json& json, const ClassifierRecipe& r) {
  const auto& l = r.losses;
  json = {{"recipe", r.recipe},
          {"network", to_json(r.network)},
          {"losses", {{"task", l.task}, {"surjectivity", l.surjectivity}, {"stability", l.stability},
                      {"regression", l.regression}, {"range", l.range}}},
          {"inverse_every", r.inverse_every},
          {"label_smoothing", r.label_smoothing},
          {"adaptive_weights", r.adaptive_weights},
          {"augment", r.augment},
          {"train", r.train}};
  if (!r.guidance.empty()) json["guidance"] = to_json(r.guidance);
}

void from_json(const Json& json, ClassifierRecipe& r) {
  Json network, losses = Json::object(), guidance = Json::object();
  JsonFields(json, "classifier")
      .optional("recipe", r.recipe)
      .required("network", network)
      .optional("losses", losses)
      .optional("inverse_every", r.inverse_every)
      .optional("label_smoothing", r.label_smoothing)
      .optional("adaptive_weights", r.adaptive_weights)
      .optional("augment", r.augment)
      .required("train", r.train)
      .optional("guidance", guidance)
      .no_others();
  r.guidance = guidance_windows_from(guidance, "guidance");
  r.network = recipe_network(network);
  r.losses = losses_of_recipe(r.recipe);
  from_json(losses, r.losses);
  require(r.inverse_every > 0 && r.train.batch % r.inverse_every == 0, "classifier.inverse_every",
          fmt::format("a divisor of the batch of {}", r.train.batch), std::to_string(r.inverse_every));
}

ClassifierObjective::ClassifierObjective(ClassifierRecipe recipe, const Dataset& train, const Dataset& val, Map black_box)
    : recipe_(std::move(recipe)),
      val_(val),
      black_box_(std::move(black_box)),
      task_(task_of(train)),
      batches_(train, {.augment = recipe_.augment, .batch = recipe_.train.batch, .seed = recipe_.train.seed}),
      adaptive_(static_cast<std::int64_t>(train.attributes.size()), recipe_.adaptive_weights),
      net_(network_for(train, recipe_.network, Rng(recipe_.train.seed).fork(kClassifierInit))) {
  require(!recipe_.adaptive_weights.enabled || (task_ == Task::attributes && !black_box_), "adaptive_weights",
          "a task of attributes", black_box_ ? "a black box" : "classes");
}

Tensor ClassifierObjective::task_part(const Batch& batch, const Tensor& y) {
  if (black_box_) {
    const torch::NoGradGuard no_grad;
    const auto wanted = black_box_(batch.images);
    const torch::AutoGradMode grad(true);
    return task_loss(Task::black_box, y, wanted);
  }
  if (recipe_.adaptive_weights.enabled) {
    const torch::NoGradGuard no_grad;
    adaptive_.observe(torch::binary_cross_entropy_with_logits(y, batch.labels, {}, {}, at::Reduction::None).mean(0));
  }
  return task_loss(task_, y, batch.labels, {.label_smoothing = recipe_.label_smoothing,
                                            .weights = recipe_.adaptive_weights.enabled ? adaptive_.weights() : Tensor()});
}

Losses ClassifierObjective::losses(std::int64_t step, Share share) {
  const auto& lambda = recipe_.losses;
  const auto batch = batches_.get(step, share);
  const MixScope once_per_step(*net_);
  const auto trace = net_->trace(batch.images);
  Losses parts{{"task", lambda.task * task_part(batch, trace.y)}};
  auto others = inverse_losses(*net_, batch.images, trace, lambda, recipe_.inverse_every);
  std::ranges::move(others, std::back_inserter(parts));
  return parts;
}

Validation ClassifierObjective::validate() {
  const auto outputs = outputs_over(val_, [&](const Tensor& x) { return net_->forward(x); });
  const auto accuracy = accuracy_of(task_, outputs, val_.labels).mean;
  const auto loss = task_loss(task_, outputs, val_.labels).item<double>();
  const auto stability = stability_over(val_, *net_, "r", kStabilityImages);
  return {.score = 1 - accuracy,
          .figures = {{"mean_accuracy", accuracy}, {"validation_loss", loss}, {"stability", stability}}};
}

std::map<std::string, std::string> ClassifierObjective::metadata() const {
  return spnn_metadata(*net_, val_, task_, recipe_, recipe_.guidance);
}

double stability_over(const Dataset& dataset, const Spnn& net, const std::string& r_set, std::int64_t count) {
  const torch::NoGradGuard no_grad;
  const auto& r = net.r_set(r_set);
  const auto images = std::min(count, dataset.size());
  double sum = 0;
  for (std::int64_t first = 0; first < images; first += 64) {
    const auto x = make_batch(dataset, torch::arange(first, std::min(first + 64, images), torch::kInt64)).images;
    const auto x_hat = net.descend(net.forward(x), [&](std::size_t l, const Tensor& y_l) { return r[l]->forward(y_l); });
    sum += (x - x_hat).square().flatten(1).mean(1).sum().item<double>();
  }
  return sum / static_cast<double>(images);
}

}  // namespace spnn
