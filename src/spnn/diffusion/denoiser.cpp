#include <spnn/diffusion/denoiser.h>

#include <cmath>

namespace spnn {

Tensor x0_from_eps(const Schedule& schedule, const Tensor& x_t, const Tensor& eps, std::int64_t t) {
  const double a = schedule.alpha_bar(t);
  return (x_t - eps * std::sqrt(1 - a)) * (1 / std::sqrt(a));
}

Tensor eps_from_x0(const Schedule& schedule, const Tensor& x_t, const Tensor& x0, std::int64_t t) {
  const double a = schedule.alpha_bar(t);
  return (x_t - x0 * std::sqrt(a)) * (1 / std::sqrt(1 - a));
}

Tensor predict_x0(const Denoiser& prior, const Tensor& x_t, std::int64_t t) {
  return x0_from_eps(prior.schedule(), x_t, prior.eps(x_t, t), t);
}

}  // namespace spnn
