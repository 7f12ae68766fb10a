#include <spnn/core/errors.h>
#include <spnn/projection/operator_projector.h>

namespace spnn {

OperatorProjector::OperatorProjector(std::shared_ptr<const Operator> g, Metric metric) : g_(std::move(g)), metric_(metric) {
  require(g_ != nullptr, "OperatorProjector", "an operator", "none");
}

Probe OperatorProjector::probe(const Tensor& x) const {
  auto at = g_->complete(x);
  return {x, at.y, std::move(at)};
}

Tensor OperatorProjector::nlbp(const Probe& probe, const Tensor& y, const Tensor& lambda) const {
  if (metric_ == Metric::naive) return naive(probe, y, lambda);
  const auto y_new = probe.y + broadcast_over(lambda, probe.y) * (y - probe.y);
  const auto from = g_->complete(g_->pinv(probe.y));
  const bool plain = metric_ == Metric::plain;
  const auto onto = g_->complete(g_->pinv(plain ? y : y_new));
  Completion moved{y_new, {}};
  for (std::size_t l = 0; l < from.z.size(); ++l) {
    const Tensor step = onto.z[l] - from.z[l];
    moved.z.push_back(probe.at.z[l] + (plain ? broadcast_over(lambda, step) * step : step));
  }
  return g_->invert(moved);
}

}  // namespace spnn
