#include <spnn/flows/conditional_gaussian.h>
#include <spnn/flows/flow_layer.h>

namespace spnn {

Tensor softly_bounded(const Tensor& raw, double bound) { return bound * torch::tanh(raw / bound); }

ConditionalGaussian::Moments ConditionalGaussian::moments(const Tensor& u) const {
  const auto both = net_->forward(u).chunk(2, 1);
  return {both[0], softly_bounded(both[1])};
}

ConditionalGaussian::Standardised ConditionalGaussian::standardise(const Tensor& v, const Tensor& u) const {
  if (!net_) return {v, standard_normal_log_p(v)};
  const auto [mean, log_scale] = moments(u);
  const auto z = (v - mean) * torch::exp(-log_scale);
  return {z, standard_normal_log_p(z) - sum_per_image(log_scale)};
}

Tensor ConditionalGaussian::place(const Tensor& z, const Tensor& u) const {
  if (!net_) return z;
  const auto [mean, log_scale] = moments(u);
  return torch::addcmul(mean, z, torch::exp(log_scale));
}

}  // namespace spnn
