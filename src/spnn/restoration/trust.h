#pragma once

#include <spnn/restoration/method.h>

namespace spnn::field {

// How far to follow a measurement y = g(x) + e that is not exact: because of noise, or because g is a fit of what was really done to
// the picture. Seen from x_t, a coordinate of g(x̂0) is off by a variance of about
//     v = s σ²/(s + σ²),   σ² = (1 − ᾱ)/ᾱ,
// s its variance over pictures: what is left to know of a Gaussian under that much noise. Its mean given x_t and y is then
//     g(x̂0) + v/(v + Var e)·(y − g(x̂0)).
// For exact measurements the weight is 1; else it falls to 0 with t, as y has nothing to add to what x̂0 has by then. Coordinates are
// the channels of a fitted network, with the statistics of its fit; or the singular directions of a linear operator (or of the linear
// part of A∘φ), with v and s magnified by S² and s estimated from y.
class Trust {
 public:
  Trust(const Problem& p, bool take_as_exact);

  bool exact() const { return !error_.defined(); }
  // The outputs to go to from g(x̂0).
  Tensor target(const Tensor& y_of_x0, double alpha_bar) const;

  // Where y is that of a linear operator with noise: Var e [1 or B, 1], and s σ²/(s + σ²) of every singular direction [1 or B, n].
  bool in_directions() const { return A_ != nullptr; }
  const Tensor& error() const { return error_; }
  Tensor left_open(double alpha_bar) const;

 private:
  void in_channels(const FitStatistics& fit, const Tensor& noise);
  void in_singular_directions(LinearOperatorPtr A, const Tensor& noise);
  Tensor weight(double alpha_bar) const;

  Tensor y_;
  LinearOperatorPtr A_;
  Tensor error_, signal_, gain_;   // Var e; s; S²
};

}  // namespace spnn::field
