#include <spnn/core/errors.h>
#include <spnn/methods/trust.h>

namespace spnn::field {
namespace {

// A number a channel, to broadcast over [B, C, …].
Tensor per_channel(const std::vector<double>& numbers, const Tensor& like) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(like.dim()), 1);
  shape[1] = static_cast<std::int64_t>(numbers.size());
  return torch::tensor(numbers, torch::kFloat64).to(like.options()).view(shape);
}

// Means over the seen directions of each image: of S², and of the squares of y without the noise.
struct SeenMeans {
  Tensor gain, signal;
};
SeenMeans means_over_seen(const Degradation& g, const Tensor& y, double noise) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(y.dim()), 1);
  shape[0] = -1;
  const auto count = static_cast<double>(g.g->out_shape().size());
  const auto S = g.A ? g.A->S() : torch::ones({1, g.g->out_shape().size()}, torch::kFloat64);
  const auto seen = (S > 0).sum(1).to(torch::kFloat64).clamp_max(count);
  const auto square = y.flatten(1).to(torch::kFloat64).square().sum(1) / seen;
  return {(S.square().sum(1) / seen).view(shape).to(y.options()), (square - noise).clamp_min(1e-6).view(shape).to(y.options())};
}

}  // namespace

Trust::Trust(const Problem& p, bool take_as_exact) : y_(p.y) {
  if (take_as_exact) return;
  const double noise = p.sigma_y * p.sigma_y;
  const auto* fitted = p.g.fitted.get();
  if (fitted != nullptr && !fitted->fit.error.empty()) {
    require(std::ssize(fitted->fit.error) == y_.size(1), p.g.name, fmt::format("statistics of {} channels", y_.size(1)), std::to_string(fitted->fit.error.size()));
    error_ = per_channel(fitted->fit.error, y_) + noise;
    signal_ = per_channel(fitted->fit.signal, y_);
    gain_ = means_over_seen(p.g, y_, 0).gain;
  } else if (noise > 0) {
    const auto means = means_over_seen(p.g, y_, noise);
    gain_ = means.gain;
    signal_ = means.signal;
    error_ = torch::full_like(signal_, noise);
  }
}

Tensor Trust::weight(double alpha_bar) const {
  const auto sigma2 = gain_ * ((1 - alpha_bar) / alpha_bar);
  const auto v = signal_ * sigma2 / (signal_ + sigma2);
  return v / (v + error_);
}

Tensor Trust::target(const Tensor& y_of_x0, double alpha_bar) const {
  return exact() ? y_ : y_of_x0 + weight(alpha_bar) * (y_.reshape(y_of_x0.sizes()) - y_of_x0);
}

}  // namespace spnn::field
