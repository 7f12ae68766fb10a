#include <spnn/core/json_fields.h>
#include <spnn/training/adaptive_weights.h>

namespace spnn {

void to_json(Json& json, const AdaptiveWeightsConfig& c) {
  json = {{"enabled", c.enabled}, {"every", c.every}, {"power", c.power}, {"limit", c.limit}};
}

void from_json(const Json& json, AdaptiveWeightsConfig& c) {
  JsonFields(json, "adaptive_weights")
      .optional("enabled", c.enabled)
      .optional("every", c.every)
      .optional("power", c.power)
      .optional("limit", c.limit)
      .no_others();
  require(c.every > 0 && c.limit >= 1, "adaptive_weights", "every above 0 and a limit of at least 1",
          fmt::format("{} and {}", c.every, c.limit));
}

AdaptiveWeights::AdaptiveWeights(std::int64_t attributes, const AdaptiveWeightsConfig& config)
    : config_(config), weights_(torch::ones({attributes})) {}

void AdaptiveWeights::after_step(std::int64_t step, Communicator& communicator) {
  if (!config_.enabled) return;
  std::vector<Tensor> losses{latest_};
  communicator.average(losses);
  if (running_.defined()) {
    running_.lerp_(losses.front(), 2.0 / static_cast<double>(config_.every + 1));
  } else {
    running_ = losses.front().clone();
  }
  if ((step + 1) % config_.every != 0) return;
  auto weights = running_.clamp_min(1e-8).pow(config_.power);
  weights = (weights / weights.mean()).clamp(1 / config_.limit, config_.limit);
  weights_ = weights / weights.mean();
}

std::map<std::string, Tensor> AdaptiveWeights::state() const {
  if (!running_.defined()) return {};
  return {{"adaptive.weights", weights_}, {"adaptive.running", running_}};
}

void AdaptiveWeights::restore(const std::map<std::string, Tensor>& state) {
  if (!state.contains("adaptive.running")) return;
  weights_ = state.at("adaptive.weights").clone();
  running_ = state.at("adaptive.running").clone();
}

}  // namespace spnn
