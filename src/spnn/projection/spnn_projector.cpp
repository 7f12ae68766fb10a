#include <spnn/core/errors.h>
#include <spnn/layers/init.h>
#include <spnn/projection/spnn_projector.h>

namespace spnn {
namespace {

// `random` wants nets that do something: unlike at the start of training, the last layers are drawn as well.
Spnn::RSet random_r_set(const Spnn& net, std::uint64_t seed) {
  auto set = net.make_r_set(Rng(seed));
  for (std::size_t l = 0; l < set.size(); ++l) initialise(*set[l], Rng(seed).fork(l), std::sqrt(2.0));
  return set;
}

Spnn::RSet choose_r(const Spnn& net, const SpnnProjectorConfig& config) {
  switch (config.pseudo_inverse) {
    case PseudoInverse::learned:
    case PseudoInverse::anchored: return net.r_set("r");
    case PseudoInverse::random: return random_r_set(net, config.random_seed);
    case PseudoInverse::min_norm: return net.r_set("min_norm");
    case PseudoInverse::origin: return {};
  }
  fail("SpnnProjector", "a known pseudo-inverse", "another value");
}

Tensor as_batch(const Tensor& constant, const Tensor& like) {
  return constant.expand({like.size(0), -1, -1, -1});
}

}  // namespace

SpnnProjector::SpnnProjector(std::shared_ptr<const Spnn> net, const SpnnProjectorConfig& config)
    : net_(std::move(net)), config_(config) {
  require(net_ != nullptr, "SpnnProjector", "a network", "none");
  r_ = choose_r(*net_, config_);
  const auto choice = config_.pseudo_inverse;
  if (choice == PseudoInverse::origin || choice == PseudoInverse::anchored) origin_ = origin();
}

SpnnProjector::Origin SpnnProjector::origin() const {
  const c10::InferenceMode off(false);
  const torch::NoGradGuard no_grad;
  Origin origin;
  const auto zero = torch::zeros(net_->in_shape().batched(1), net_->options());
  const auto levels = net_->levels(zero);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    origin.z.push_back(levels[l].z);
    if (!r_.empty()) origin.rho.push_back(r_[l]->forward(levels[l].y));
  }
  return origin;
}

Tensor SpnnProjector::predict(std::size_t level, const Tensor& y_l) const {
  switch (config_.pseudo_inverse) {
    case PseudoInverse::origin: return as_batch(origin_.z[level], y_l);
    case PseudoInverse::anchored:
      return r_[level]->forward(y_l) + (origin_.z[level] - origin_.rho[level]);
    default: return r_[level]->forward(y_l);
  }
}

Completion SpnnProjector::complete(const Tensor& x) const {
  auto [y, levels] = net_->trace(x);
  Completion out{y, {}};
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const bool residual = config_.metric == Metric::residual;
    out.z.push_back(!residual ? levels[l].z : levels[l].z - predict(l, levels[l].y));
  }
  return out;
}

Tensor SpnnProjector::invert(const Completion& yz) const {
  if (config_.metric != Metric::residual) return net_->invert(yz);
  require(yz.z.size() == net_->level_count(), "SpnnProjector inverse",
          fmt::format("{} discarded parts", net_->level_count()), fmt::format("{}", yz.z.size()));
  return net_->descend(yz.y, [&](std::size_t l, const Tensor& y_l) { return yz.z[l] + predict(l, y_l); });
}

Tensor SpnnProjector::pinv(const Tensor& y) const {
  return net_->descend(y, [&](std::size_t l, const Tensor& y_l) { return predict(l, y_l); });
}

Probe SpnnProjector::probe(const Tensor& x) const {
  auto at = complete(x);
  return {x, at.y, std::move(at)};
}

std::vector<Tensor> SpnnProjector::predictions(const Tensor& y) const {
  return net_->picks(y, [&](std::size_t l, const Tensor& y_l) { return predict(l, y_l); });
}

std::vector<Tensor> SpnnProjector::target_predictions(const Tensor& y) const {
  if (torch::GradMode::is_enabled() && !c10::InferenceMode::is_enabled()) return predictions(y);
  const std::lock_guard lock(mutex_);
  if (!target_.defined() || target_.options().dtype() != y.dtype() || !torch::equal(target_, y)) {
    target_z_ = predictions(y);
    target_ = y.clone();
  }
  return target_z_;
}

Tensor SpnnProjector::nlbp(const Probe& probe, const Tensor& y, const Tensor& lambda) const {
  require_shape(y, out_shape(), "nlbp target");
  if (config_.metric == Metric::naive) return naive(probe, y.reshape(probe.y.sizes()), lambda);
  const auto weight = broadcast_over(lambda, probe.y);
  const auto y_new = torch::lerp(probe.y, y.reshape(probe.y.sizes()), weight.to(probe.y.options()).expand_as(probe.y));
  if (config_.metric == Metric::residual || config_.pseudo_inverse == PseudoInverse::origin) {
    return invert({y_new, probe.at.z});   // with a constant r the plain step has no null-space part either
  }
  const auto z_y = target_predictions(y);
  const auto z_x = predictions(probe.y);
  Completion moved{y_new, {}};
  for (std::size_t l = 0; l < z_x.size(); ++l) {
    moved.z.push_back(probe.at.z[l] + broadcast_over(lambda, z_x[l]) * (z_y[l] - z_x[l]));
  }
  return net_->invert(moved);
}

}  // namespace spnn
