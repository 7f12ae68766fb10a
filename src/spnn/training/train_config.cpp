#include <spnn/core/json_fields.h>
#include <spnn/training/train_config.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spnn {

void to_json(Json& json, const TrainConfig& c) {
  json = {{"steps", c.steps},       {"batch", c.batch},
          {"lr", c.lr},             {"beta1", c.beta1},
          {"beta2", c.beta2},       {"weight_decay", c.weight_decay},
          {"clip", c.clip},         {"warmup", c.warmup},
          {"decay_from", c.decay_from}, {"decay", c.decay},
          {"precision", c.precision}, {"ema", c.ema}, {"seed", c.seed},
          {"validate_every", c.validate_every}, {"checkpoint_every", c.checkpoint_every}};
}

void from_json(const Json& json, TrainConfig& c) {
  JsonFields(json, "train")
      .optional("steps", c.steps).optional("batch", c.batch).optional("lr", c.lr)
      .optional("beta1", c.beta1).optional("beta2", c.beta2).optional("weight_decay", c.weight_decay)
      .optional("clip", c.clip).optional("warmup", c.warmup).optional("decay_from", c.decay_from)
      .optional("decay", c.decay).optional("precision", c.precision).optional("ema", c.ema).optional("seed", c.seed)
      .optional("validate_every", c.validate_every).optional("checkpoint_every", c.checkpoint_every)
      .no_others();
  require(c.steps > 0 && c.batch > 0, "train", "steps and batch above zero", fmt::format("{} and {}", c.steps, c.batch));
  require(c.lr > 0, "train.lr", "a positive rate", std::to_string(c.lr));
  require(c.decay == "linear" || c.decay == "cosine", "train.decay", "linear or cosine", c.decay);
  require(c.precision == "float" || c.precision == "bfloat16", "train.precision", "float or bfloat16", c.precision);
  require(c.ema >= 0 && c.ema < 1, "train.ema", "a number in [0, 1)", std::to_string(c.ema));
  require(c.validate_every > 0 && c.checkpoint_every > 0, "train", "validate_every and checkpoint_every above zero",
          fmt::format("{} and {}", c.validate_every, c.checkpoint_every));
}

double learning_rate(const TrainConfig& c, std::int64_t step) {
  const double rise = c.warmup > 0 ? std::min(1.0, static_cast<double>(step + 1) / static_cast<double>(c.warmup)) : 1.0;
  const double start = c.decay_from * static_cast<double>(c.steps);
  if (static_cast<double>(step) <= start) return c.lr * rise;
  const double left = (static_cast<double>(c.steps) - static_cast<double>(step)) / (static_cast<double>(c.steps) - start);
  return c.lr * rise * (c.decay == "linear" ? left : 0.5 - 0.5 * std::cos(std::numbers::pi * left));
}

}  // namespace spnn
