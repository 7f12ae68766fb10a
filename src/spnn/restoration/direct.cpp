#include <spnn/core/errors.h>
#include <spnn/restoration/field.h>

#include <torch/csrc/autograd/autograd.h>

namespace spnn::field {
namespace {

Tensor size_of(const Tensor& r) { return r.flatten(1).square().sum(1); }

// A linear step is as long as ‖A‖ allows and never fails. A non-linear one is halved for an image whose residual grew.
Tensor ibp_any(const Problem& p, const MethodConfig& c, Observer& observer) {
  auto x = torch::zeros(p.g.in_shape().batched(p.y.size(0)), p.y.options());
  auto mu = torch::ones({x.size(0)}, x.options());
  auto [step, r] = back_projected(*p.g.g, x, p.y);
  auto error = size_of(r);
  for (std::int64_t k = 0; k < c.iterations; ++k) {
    if (observer.cancelled()) throw Interrupted("back-projection was interrupted");
    const auto tried = x + broadcast_over(mu, step) * step;
    auto [next_step, next_r] = back_projected(*p.g.g, tried, p.y);
    const auto better = size_of(next_r) < error;   // false for NaN
    const auto rows = broadcast_over(better, x);
    x = torch::where(rows, tried, x);
    step = torch::where(rows, next_step, step);
    error = torch::where(better, size_of(next_r), error);
    mu = torch::where(better, mu * 1.2, mu * 0.5);
    observer.progress(k + 1, c.iterations, "back-projections");
  }
  return x;
}

}  // namespace

std::pair<Tensor, Tensor> back_projected(const BackProjector& g, const Tensor& x, const Tensor& y) {
  const at::AutoGradMode with_gradients(true);
  const auto at = x.detach().requires_grad_(true);
  const auto g_x = g.forward(at);
  const auto r = (y - g_x).detach();
  return {torch::autograd::grad({g_x}, {at}, {r})[0], r};
}

Tensor pinv(const Problem& p, const MethodConfig&, Observer&) { return p.g.g->pinv(p.y); }

Tensor ibp(const Problem& p, const MethodConfig& c, Observer& observer) {
  if (!p.g.linear) return ibp_any(p, c, observer);
  const auto& A = *p.g.linear;
  auto x = torch::zeros(A.in_shape().batched(p.y.size(0)), p.y.options());
  for (std::int64_t k = 0; k < c.iterations; ++k) {
    if (observer.cancelled()) throw Interrupted("back-projection was interrupted");
    x = x + A.adjoint(p.y - A.forward(x)) * (1 / (A.norm() * A.norm()));
    observer.progress(k + 1, c.iterations, "back-projections");
  }
  return x;
}

}  // namespace spnn::field
