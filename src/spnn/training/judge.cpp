#include <spnn/core/json_fields.h>
#include <spnn/training/judge.h>

namespace spnn {
namespace {

constexpr std::uint64_t kJudgeInit = 1, kJudgeDropout = 3, kJudgeDisturb = 4;   // LabelledBatches forks its own streams from the same step

}  // namespace

void to_json(Json& json, const JudgeRecipe& r) {
  json = {{"judge", r.judge},     {"dropout", r.dropout}, {"label_smoothing", r.label_smoothing},
          {"augment", r.augment}, {"train", r.train}};
  if (r.disturb.enabled()) json["disturb"] = r.disturb;
}

void from_json(const Json& json, JudgeRecipe& r) {
  JsonFields(json, "judge recipe")
      .optional("judge", r.judge)
      .optional("dropout", r.dropout)
      .optional("label_smoothing", r.label_smoothing)
      .optional("augment", r.augment)
      .optional("disturb", r.disturb)
      .required("train", r.train)
      .no_others();
  require(r.dropout >= 0 && r.dropout < 1, "judge recipe.dropout", "a number in [0, 1)", std::to_string(r.dropout));
  require(r.label_smoothing >= 0 && r.label_smoothing < 1, "judge recipe.label_smoothing", "a number in [0, 1)",
          std::to_string(r.label_smoothing));
}

JudgeObjective::JudgeObjective(JudgeRecipe recipe, const Dataset& train, const Dataset& val)
    : recipe_(std::move(recipe)),
      val_(val),
      task_(task_of(train)),
      batches_(train, {.augment = recipe_.augment, .batch = recipe_.train.batch, .seed = recipe_.train.seed}),
      judge_(std::make_shared<Judge>(recipe_.judge)) {
  require_shape(train.images, judge_->in_shape(), "the judge's training images");
  require(static_cast<std::int64_t>(train.attributes.size()) == recipe_.judge.outputs, "judge.outputs",
          fmt::format("{}, as the data set has labels", train.attributes.size()), std::to_string(recipe_.judge.outputs));
  initialise_judge(*judge_, Rng(recipe_.train.seed).fork(kJudgeInit));
}

Tensor JudgeObjective::drop(const Tensor& features, std::int64_t step, Share share) const {
  if (recipe_.dropout == 0) return features;
  const auto rng = Rng(recipe_.train.seed).fork(static_cast<std::uint64_t>(step) << 8).fork(kJudgeDropout);
  const auto draw = rng.uniform({recipe_.train.batch, features.size(1)});
  return features * share_of(draw, share).ge(recipe_.dropout).to(features.dtype()) / (1 - recipe_.dropout);
}

Losses JudgeObjective::losses(std::int64_t step, Share share) {
  const auto batch = batches_.get(step, share);
  const auto rng = Rng(recipe_.train.seed).fork(static_cast<std::uint64_t>(step) << 8).fork(kJudgeDisturb);
  const auto x = disturbed(batch.images, recipe_.disturb, rng, share);
  const auto outputs = judge_->logits(drop(judge_->look(x), step, share));
  return {{"task", task_loss(task_, outputs, batch.labels, {.label_smoothing = recipe_.label_smoothing})}};
}

Validation JudgeObjective::validate() {
  const auto outputs = outputs_over(val_, [&](const Tensor& x) { return judge_->forward(x); });
  const auto accuracy = accuracy_of(task_, outputs, val_.labels).mean;
  const auto loss = task_loss(task_, outputs, val_.labels).item<double>();
  Validation out{.score = 1 - accuracy, .figures = {{"mean_accuracy", accuracy}, {"validation_loss", loss}}};
  if (!recipe_.disturb.enabled()) return out;
  std::uint64_t part = 0;
  const auto rng = Rng(recipe_.train.seed).fork(kJudgeDisturb);
  const auto through = outputs_over(val_, [&](const Tensor& x) { return judge_->forward(disturbed(x, recipe_.disturb, rng.fork(part++))); });
  const auto disturbed_accuracy = accuracy_of(task_, through, val_.labels).mean;
  out.figures.emplace_back("disturbed_accuracy", disturbed_accuracy);
  out.score = 1 - 0.5 * (accuracy + disturbed_accuracy);
  return out;
}

std::map<std::string, std::string> JudgeObjective::metadata() const {
  return {{"kind", "judge"},
          {"architecture", Json(recipe_.judge).dump()},
          {"attributes", Json(val_.attributes).dump()},
          {"task", std::string(to_string(task_))},
          {"recipe", Json(recipe_).dump()}};
}

}  // namespace spnn
