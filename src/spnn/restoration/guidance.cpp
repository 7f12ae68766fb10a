#include <spnn/core/errors.h>
#include <spnn/restoration/guidance.h>

namespace spnn {
namespace {

void require_lambda(double lambda, std::string_view where) {
  require(lambda >= 0 && lambda <= 1, where, "a number in [0, 1]", fmt::format("{}", lambda));
}

Tensor for_each_image(double lambda, const Tensor& y) { return torch::full({y.size(0)}, lambda, y.options()); }

}  // namespace

LambdaSchedule lambda_schedule_from(std::string_view name) { return value_named(kLambdaSchedules, name, "lambda schedule"); }

Guidance constant_lambda(double lambda) {
  require_lambda(lambda, "lambda");
  return [lambda](const GuidanceStep& step) { return for_each_image(lambda, step.y_cur); };
}

Guidance two_level_lambda(const TwoLevel& levels) {
  require_lambda(levels.early, "early lambda");
  require_lambda(levels.late, "late lambda");
  return [levels](const GuidanceStep& step) {
    return for_each_image(step.t < levels.below ? levels.late : levels.early, step.y_cur);
  };
}

Guidance adaptive_lambda(const AdaptiveLambda& config) {
  require_lambda(config.alpha, "alpha");
  require(config.gamma >= 0, "gamma", "0 or more", fmt::format("{}", config.gamma));
  return [config](const GuidanceStep& step) {
    auto distance = (step.y_target - step.y_cur).abs().flatten(1);
    if (config.controlled.defined()) distance = distance.index_select(1, config.controlled.to(distance.device()));
    return config.alpha * torch::tanh(config.gamma * distance.amax(1));
  };
}

}  // namespace spnn
