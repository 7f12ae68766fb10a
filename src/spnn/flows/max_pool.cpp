#include <spnn/core/errors.h>
#include <spnn/flows/conditional_gaussian.h>
#include <spnn/flows/max_pool.h>

#include <cmath>
#include <numbers>

namespace spnn {

MaxPool::MaxPool(const MaxPoolConfig& config, std::shared_ptr<Subnet> log_sigma)
    : FlowLayer(config.in, {config.in.channels, config.in.height / config.factor_h, config.in.width / config.factor_w}),
      places_(config.factor_h * config.factor_w),
      squeeze_({.in = config.in, .factor_h = config.factor_h, .factor_w = config.factor_w}),
      net_(std::move(log_sigma)) {
  if (net_) register_module("log_sigma", net_);
}

Tensor MaxPool::cells(const Tensor& squeezed) const {
  const auto& out = out_shape();
  return squeezed.reshape({squeezed.size(0), out.channels, places_, out.height, out.width});
}

Tensor MaxPool::log_sigma(const Tensor& y) const {
  if (!net_) return torch::zeros_like(y).unsqueeze(2);
  return softly_bounded(net_->forward(y)).unsqueeze(2);
}

Observed MaxPool::observe(const Tensor& x) const {
  require_shape(x, in_shape(), "MaxPool");
  const auto in_cells = cells(squeeze_.forward(x));
  const auto y = in_cells.amax(2);
  const auto log_s = log_sigma(y);
  const auto z = (y.unsqueeze(2) - in_cells) * torch::exp(-log_s);
  const auto others = static_cast<double>(places_ - 1), count = static_cast<double>(out_shape().size());
  const double constant = -std::log(static_cast<double>(places_)) +
                          others * (std::log(2.0) - 0.5 * std::log(2 * std::numbers::pi));
  const auto log_p = count * constant - others * sum_per_image(log_s) - 0.5 * sum_per_image(z.square());
  return {{y, {z.reshape(z_shape().batched(x.size(0)))}}, log_p};
}

Tensor MaxPool::invert(const Completion& yz) const {
  require_shape(yz.y, out_shape(), "MaxPool inverse");
  const auto z = cells(yz.z.at(0));
  const auto below = z - z.amin(2, /*keepdim=*/true);
  const auto in_cells = yz.y.unsqueeze(2) - below * torch::exp(log_sigma(yz.y));
  return squeeze_.invert({in_cells.reshape(z_shape().batched(yz.y.size(0))), {}});
}

Tensor MaxPool::draw_z(const Draw& draw, torch::TensorOptions options) const {
  const auto steps = cells(FlowLayer::draw_z(draw, options)).abs();
  std::vector<Tensor> places;
  const auto sizes = torch::IntArrayRef(steps.sizes()).slice(1).vec();
  for (std::int64_t i = 0; i < draw.count; ++i) {   // a stream of its own beside the Gaussian one of image i
    places.push_back(draw.rng.fork(draw.first + static_cast<std::uint64_t>(i)).fork(1).uniform(sizes, options));
  }
  const auto place = torch::stack(places).argmax(2, /*keepdim=*/true);
  return steps.scatter(2, place, 0.0).reshape(z_shape().batched(draw.count));
}

}  // namespace spnn
