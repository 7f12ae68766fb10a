#include <spnn/core/errors.h>
#include <spnn/restoration/trust.h>

namespace spnn::field {
namespace {

constexpr double weakest_octave = 16;   // of squared singular values: what is weaker still counts with it
constexpr double steadying = 16;        // directions

}  // namespace

Trust::Trust(const Problem& p, bool take_as_exact) : y_(p.y) {
  if (take_as_exact) return;
  const auto noise = p.sigma_y.along(y_.dim()).square();   // [1 or B, 1, …]
  if (p.g.fitted && !p.g.fitted->fit.error.empty()) {
    in_channels(p.g.fitted->fit, noise);
  } else if (p.sigma_y.any() && p.g.A) {
    in_singular_directions(p.g.A, noise.view({-1, 1}));
  } else if (p.sigma_y.any()) {   // a network of which nothing is known but its output
    std::vector<std::int64_t> an_image(static_cast<std::size_t>(y_.dim()), 1);
    an_image[0] = y_.size(0);
    const auto floor = noise.to(y_.options());
    signal_ = torch::maximum(y_.flatten(1).square().mean(1).view(an_image) - floor, floor);
    error_ = floor.expand_as(signal_);
    gain_ = torch::ones_like(signal_);
  }
}

void Trust::in_channels(const FitStatistics& fit, const Tensor& noise) {
  require(std::ssize(fit.error) == y_.size(1), "the operator's fit", fmt::format("statistics of {} channels", y_.size(1)), std::to_string(fit.error.size()));
  std::vector<std::int64_t> shape(static_cast<std::size_t>(y_.dim()), 1);
  shape[1] = y_.size(1);
  const auto over_y = [&](const std::vector<double>& numbers) { return torch::tensor(numbers, torch::kFloat64).view(shape).to(y_.options()); };
  error_ = over_y(fit.error) + noise.to(y_.options());
  signal_ = over_y(fit.signal);
  gain_ = torch::ones_like(error_);
}

void Trust::in_singular_directions(LinearOperatorPtr A, const Tensor& noise) {
  A_ = std::move(A);
  gain_ = A_->S().square();                                                           // [1 or B, n]
  error_ = noise.to(gain_.device());                                                  // [1 or B, 1]
  // The variance of x, from y: one for every octave of gain, as directions that a blur weakens alike are frequencies of much the same
  // power; few directions say little, so that of all counts as `steadying` more. What is drowned in noise may be as large as the
  // error of its own estimate.
  const auto square = A_->Ut(y_).to(torch::kFloat64).square();
  const auto octave = torch::where(gain_ > 0, (gain_ / gain_.amax(1, /*keepdim=*/true)).log2().ceil().clamp_min(-weakest_octave), torch::ones_like(gain_));
  const auto all = (square.sum(1, /*keepdim=*/true) - (gain_ > 0).sum(1, /*keepdim=*/true) * error_).clamp_min(0) / gain_.sum(1, /*keepdim=*/true);
  signal_ = torch::zeros_like(square);
  for (double k = 0; k <= weakest_octave; ++k) {
    const auto here = (octave == -k).to(torch::kFloat64);
    const auto count = here.sum(1, /*keepdim=*/true), gain = (gain_ * here).sum(1, /*keepdim=*/true).clamp_min(1e-30);
    const auto least = (2 * count).sqrt() * error_;
    const auto own = torch::maximum((square * here).sum(1, /*keepdim=*/true) - count * error_, least) / gain;
    signal_ = signal_ + here * (own * count + all * steadying) / (count + steadying);
  }
}

Tensor Trust::weight(double alpha_bar) const {
  const auto v = gain_ * left_open(alpha_bar);
  return v / (v + error_);
}

Tensor Trust::left_open(double alpha_bar) const {
  const double sigma2 = (1 - alpha_bar) / alpha_bar;
  return signal_ * sigma2 / (signal_ + sigma2);
}

Tensor Trust::target(const Tensor& y_of_x0, double alpha_bar) const {
  if (exact()) return y_;
  const auto step = y_.reshape(y_of_x0.sizes()) - y_of_x0;
  if (!A_) return y_of_x0 + weight(alpha_bar) * step;
  const auto u = A_->Ut(step);
  return y_of_x0 + A_->U(weight(alpha_bar).to(u.options()) * u);
}

}  // namespace spnn::field
