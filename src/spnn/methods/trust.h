#pragma once

#include <spnn/methods/method.h>

namespace spnn::field {

// How far to follow a measurement y = g(x) + e that is not exact: because of noise, or because g is a fit of what was really done to
// the picture. Seen from x_t, g(x̂0) is off by a variance of about
//     v = s σ²/(s + σ²),   σ² = S²(1 − ᾱ)/ᾱ,
// s the variance of g(x), S how much g magnifies: what is left to know of a Gaussian under that much noise. The mean of g(x) given x_t and y is then
//     g(x̂0) + v/(v + Var e)·(y − g(x̂0)),
// entry by entry. For exact measurements the weight is 1; else it falls to 0 with t, as y has nothing to add to what x̂0 has by then.
class Trust {
 public:
  Trust(const Problem& p, bool take_as_exact);

  bool exact() const { return !error_.defined(); }
  Tensor weight(double alpha_bar) const;               // broadcasts over y. requires: !exact()
  // The outputs to go to from g(x̂0).
  Tensor target(const Tensor& y_of_x0, double alpha_bar) const;

 private:
  Tensor y_, error_, signal_, gain_;   // gain: S²
};

}  // namespace spnn::field
