#include <spnn/core/errors.h>
#include <spnn/flows/conditional_gaussian.h>
#include <spnn/flows/flow_layer.h>
#include <spnn/projection/stochastic_inverse.h>

namespace spnn {

StochasticInverse::StochasticInverse(std::shared_ptr<const Spnn> net) : net_(std::move(net)) {
  require(net_ && net_->has_r_set(scales), "stochastic inverse", "a model with a log-scale for every level", "one without",
          "'spnn train inverse' with recipe = \"stochastic\" adds it");
}

Tensor StochasticInverse::log_scale(std::size_t level, const Tensor& y_l) const {
  return softly_bounded(net_->r_set(scales)[level]->forward(y_l));
}

Tensor StochasticInverse::sample(const Tensor& y, const Draw& draw) const {
  return net_->descend(y, [&](std::size_t l, const Tensor& y_l) {
    const auto mean = net_->r(l, y_l);
    const auto noise = draw.rng.fork(l).randn_per_image(mean.sizes(), draw.first, mean.options());
    return torch::addcmul(mean, torch::exp(log_scale(l, y_l)), noise, draw.temperature);
  });
}

Tensor StochasticInverse::log_p(const Spnn::Trace& trace) const {
  Tensor sum = trace.y.new_zeros({trace.y.size(0)});
  for (std::size_t l = 0; l < trace.levels.size(); ++l) {
    const auto& [y_l, z_l] = trace.levels[l];
    const auto log_s = log_scale(l, y_l);
    sum = sum + standard_normal_log_p((z_l - net_->r(l, y_l)) * torch::exp(-log_s)) - sum_per_image(log_s);
  }
  return sum;
}

std::int64_t StochasticInverse::discarded() const {
  std::int64_t sum = 0;
  for (std::size_t l = 0; l < net_->level_count(); ++l) sum += net_->level(l).z_shape().size();
  return sum;
}

std::vector<double> StochasticInverse::chi_square(const Spnn::Trace& trace) const {
  std::vector<double> all;
  for (std::size_t l = 0; l < trace.levels.size(); ++l) {
    const auto& [y_l, z_l] = trace.levels[l];
    all.push_back(((z_l - net_->r(l, y_l)) * torch::exp(-log_scale(l, y_l))).square().mean().item<double>());
  }
  return all;
}

double mean_pairwise_distance(const Tensor& images) {
  const auto flat = images.flatten(1).to(torch::kFloat64);
  require(flat.size(0) > 1, "mean_pairwise_distance", "two images or more", std::to_string(flat.size(0)));
  return torch::pdist(flat).mean().item<double>() / std::sqrt(static_cast<double>(flat.size(1)));
}

}  // namespace spnn
