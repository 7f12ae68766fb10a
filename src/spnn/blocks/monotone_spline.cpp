#include <spnn/blocks/monotone_spline.h>

namespace spnn {
namespace {

// The piece that each value lies in: its left knot, width, height and the slopes of its ends.
struct Piece {
  Tensor x, y, width, height, left, right;

  Tensor slope() const { return height / width; }
};

Tensor first_knot(const Tensor& knots) { return knots.narrow(-1, 0, 1); }
Tensor last_knot(const Tensor& knots) { return knots.narrow(-1, knots.size(-1) - 1, 1); }

Tensor within(const Tensor& values, const Tensor& knots) {
  return torch::minimum(torch::maximum(values, first_knot(knots)), last_knot(knots));
}

Piece piece_of(const MonotoneSpline& s, const Tensor& knots, const Tensor& inside) {
  const auto pieces = knots.size(-1) - 1;
  const auto k = (torch::searchsorted(knots.detach().contiguous(), inside.detach().contiguous(), /*out_int32=*/false, /*right=*/true) - 1).clamp(0, pieces - 1);
  const auto x = s.x.gather(-1, k), y = s.y.gather(-1, k);
  return {x, y, s.x.gather(-1, k + 1) - x, s.y.gather(-1, k + 1) - y, s.slope.gather(-1, k), s.slope.gather(-1, k + 1)};
}

Tensor slope_at(const Piece& p, const Tensor& theta) {
  const auto delta = p.slope(), rest = 1 - theta, both = theta * rest;
  const auto below = delta + (p.left + p.right - 2 * delta) * both;
  return (delta / below).square() * (p.right * theta.square() + 2 * delta * both + p.left * rest.square());
}

}  // namespace

MonotoneSpline::Value MonotoneSpline::forward(const Tensor& values) const {
  const auto inside = within(values, x);
  const auto p = piece_of(*this, x, inside);
  const auto theta = (inside - p.x) / p.width, both = theta * (1 - theta), delta = p.slope();
  const auto rise = p.height * (delta * theta.square() + p.left * both) / (delta + (p.left + p.right - 2 * delta) * both);
  const auto slope = slope_at(p, theta);
  return {p.y + rise + slope * (values - inside), torch::log(slope)};
}

Tensor MonotoneSpline::inverse(const Tensor& values) const {
  const auto inside = within(values, y);
  const auto p = piece_of(*this, y, inside);
  const auto eta = inside - p.y, delta = p.slope(), bend = (p.left + p.right - 2 * delta) * eta;
  const auto a = p.height * (delta - p.left) + bend, b = p.height * p.left - bend, c = -delta * eta;
  // The root in [0, 1], in the form that loses no digits where a is small.
  const auto theta = 2 * c / (-b - (b.square() - 4 * a * c).clamp_min(0).sqrt());
  return p.x + theta * p.width + (values - inside) / slope_at(p, theta);
}

Tensor slopes_at_knots(const Tensor& pieces) {
  const auto count = pieces.size(-1);
  const auto left = pieces.narrow(-1, 0, count - 1), right = pieces.narrow(-1, 1, count - 1);
  return torch::cat({first_knot(pieces), 2 * left * right / (left + right), last_knot(pieces)}, -1);
}

}  // namespace spnn
