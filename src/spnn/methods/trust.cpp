#include <spnn/core/errors.h>
#include <spnn/methods/trust.h>

namespace spnn::field {

Trust::Trust(const Problem& p, bool take_as_exact) : y_(p.y) {
  if (take_as_exact) return;
  const double noise = p.sigma_y * p.sigma_y;
  if (p.g.fitted && !p.g.fitted->fit.error.empty()) {
    in_channels(p.g.fitted->fit, noise);
  } else if (noise > 0 && p.g.A) {
    in_singular_directions(p.g.A, noise);
  } else if (noise > 0) {   // a network of which nothing is known but its output
    std::vector<std::int64_t> an_image(static_cast<std::size_t>(y_.dim()), 1);
    an_image[0] = y_.size(0);
    signal_ = (y_.flatten(1).square().mean(1) - noise).clamp_min(noise).view(an_image);
    error_ = torch::full_like(signal_, noise);
    gain_ = torch::ones_like(signal_);
  }
}

void Trust::in_channels(const FitStatistics& fit, double noise) {
  require(std::ssize(fit.error) == y_.size(1), "the operator's fit", fmt::format("statistics of {} channels", y_.size(1)), std::to_string(fit.error.size()));
  std::vector<std::int64_t> shape(static_cast<std::size_t>(y_.dim()), 1);
  shape[1] = y_.size(1);
  const auto over_y = [&](const std::vector<double>& numbers) { return torch::tensor(numbers, torch::kFloat64).view(shape).to(y_.options()); };
  error_ = over_y(fit.error) + noise;
  signal_ = over_y(fit.signal);
  gain_ = torch::ones_like(error_);
}

void Trust::in_singular_directions(LinearOperatorPtr A, double noise) {
  A_ = std::move(A);
  gain_ = A_->S().square();                                                           // [1 or B, n]
  const auto seen = (gain_ > 0).sum(1, /*keepdim=*/true).to(torch::kFloat64);
  const auto square = y_.flatten(1).to(torch::kFloat64).square().sum(1, /*keepdim=*/true);
  signal_ = ((square - seen * noise) / gain_.sum(1, /*keepdim=*/true)).clamp_min(noise);   // of x
  error_ = torch::full({1, 1}, noise, torch::kFloat64);
}

Tensor Trust::weight(double alpha_bar) const {
  const double sigma2 = (1 - alpha_bar) / alpha_bar;
  const auto v = gain_ * (signal_ * sigma2 / (signal_ + sigma2));
  return v / (v + error_);
}

Tensor Trust::target(const Tensor& y_of_x0, double alpha_bar) const {
  if (exact()) return y_;
  const auto step = y_.reshape(y_of_x0.sizes()) - y_of_x0;
  if (!A_) return y_of_x0 + weight(alpha_bar) * step;
  const auto u = A_->Ut(step);
  return y_of_x0 + A_->U(weight(alpha_bar).to(u.options()) * u);
}

}  // namespace spnn::field
