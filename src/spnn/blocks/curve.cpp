#include <spnn/blocks/curve.h>
#include <spnn/core/errors.h>
#include <spnn/layers/new_weights.h>

#include <algorithm>
#include <cmath>

namespace spnn {
namespace {

// [B, C, H, W] as [C, B·H·W] and back.
Tensor by_channel(const Tensor& x) { return x.transpose(0, 1).flatten(1).contiguous(); }
Tensor by_image(const Tensor& rows, const Tensor& like) {
  return rows.view({like.size(1), like.size(0), like.size(2), like.size(3)}).transpose(0, 1).contiguous();
}

// Means of `to` at the knots: each value counts at both of its neighbours, by nearness. Knots without values stay on y = x.
struct MeansAtKnots {
  Tensor means;
  std::int64_t busiest = 0;
};
MeansAtKnots means_at(const Tensor& knots, const Tensor& from, const Tensor& to) {
  const auto count = knots.size(0), n = from.size(0);
  const auto step = (knots[count - 1] - knots[0]) / static_cast<double>(count - 1);
  const auto place = ((from - knots[0]) / step).clamp(0, static_cast<double>(count - 1));
  const auto left = place.floor().clamp(0, static_cast<double>(count - 2));
  const auto share = place - left, index = left.to(torch::kInt64);
  auto weight = torch::zeros({count}, knots.options()), moved = torch::zeros_like(weight);
  const auto move = to - from;
  weight.index_add_(0, index, 1 - share).index_add_(0, index + 1, share);
  moved.index_add_(0, index, (1 - share) * move).index_add_(0, index + 1, share * move);
  const double prior = 1e-4 * static_cast<double>(n) / static_cast<double>(count);
  return {knots + moved / (weight + prior), weight.argmax().item<std::int64_t>()};
}

// Heights as near to `means` as slopes between `least` and `most` let them be, outwards from knot `begin`.
Tensor rising(const Tensor& means, const Tensor& knots, std::int64_t begin, double least, double most) {
  auto heights = means.clone();
  const auto x = knots.accessor<double, 1>();
  auto y = heights.accessor<double, 1>();
  for (std::int64_t k = begin + 1; k < heights.size(0); ++k) {
    const double width = x[k] - x[k - 1];
    y[k] = std::clamp(y[k], y[k - 1] + least * width, y[k - 1] + most * width);
  }
  for (std::int64_t k = begin; k-- > 0;) {
    const double width = x[k + 1] - x[k];
    y[k] = std::clamp(y[k], y[k + 1] - most * width, y[k + 1] - least * width);
  }
  return heights;
}

}  // namespace

Curve::Curve(const CurveConfig& config) : Block(config.in, config.in), config_(config) {
  require(config.pieces >= 2, "Curve", "two pieces or more", std::to_string(config.pieces));
  require(config.slope_bound > 0, "Curve", "a positive slope bound", fmt::format("{}", config.slope_bound));
  const auto c = config.in.channels;
  count_weights({c, config.pieces + 1});
  knots_ = register_buffer("knots", torch::linspace(-1, 1, config.pieces + 1).repeat({c, 1}));
  slopes_ = register_parameter("slopes", new_weights({c, config.pieces}));
  first_ = register_parameter("first", torch::full({c, 1}, -1.0));
}

MonotoneSpline Curve::spline() const {
  const auto pieces = torch::exp(config_.slope_bound * torch::tanh(slopes_));
  const auto rises = pieces * knots_.diff(1, -1);
  return {knots_, torch::cat({first_, first_ + rises.cumsum(-1)}, -1), slopes_at_knots(pieces)};
}

Completion Curve::complete(const Tensor& x) const {
  require_shape(x, in_shape(), "Curve");
  return {by_image(spline().forward(by_channel(x)).at, x), {}};
}

Tensor Curve::pinv(const Tensor& y) const {
  require_shape(y, out_shape(), "Curve inverse");
  return by_image(spline().inverse(by_channel(y)), y);
}

void Curve::start_at(const Tensor& from, const Tensor& to) {
  require_shape(from, in_shape(), "Curve::start_at");
  require_shape(to, out_shape(), "Curve::start_at");
  const torch::NoGradGuard no_grad;
  const auto x = by_channel(from).to(torch::kFloat64), y = by_channel(to).to(torch::kFloat64);
  const double least = std::exp(-0.95 * config_.slope_bound), most = std::exp(0.95 * config_.slope_bound);
  for (std::int64_t c = 0; c < x.size(0); ++c) {
    const auto sorted = std::get<0>(x[c].sort());
    const auto n = sorted.size(0), edge = n / 2000;
    const double low = sorted[edge].item<double>(), high = sorted[n - 1 - edge].item<double>();
    const auto knots = torch::linspace(low, std::max(high, low + 1e-3), config_.pieces + 1, torch::kFloat64);
    const auto [means, busiest] = means_at(knots, x[c], y[c]);
    const auto heights = rising(means, knots, busiest, least, most);
    knots_[c].copy_(knots);
    slopes_[c].copy_(torch::atanh(torch::log(heights.diff() / knots.diff()) / config_.slope_bound));
    first_[c].copy_(heights[0]);
  }
}

}  // namespace spnn
