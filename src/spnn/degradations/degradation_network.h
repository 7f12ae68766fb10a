#pragma once

#include <spnn/degradations/reduction.h>
#include <spnn/networks/spnn.h>

namespace spnn {

struct DegradationNetworkConfig {
  std::int64_t hidden = 128;     // of s and t
  std::int64_t depth = 1;        // residual blocks of s and t
  std::int64_t kernel = 3;       // 1 where D treats every cell by itself
  std::int64_t r_hidden = 128;
  double scale_bound = 1.0;
  std::int64_t pieces = 8;       // of the curves of pixels and of outputs; 0: no curves
  double slope_bound = 2.0;      // of the curves: slopes within exp(±b)
  bool warp = false;             // rows and columns with matrices of their own come first, for D that move pixels
  double gain_bound = 2.0;       // of those matrices: singular values within exp(±b)
  double least_gain = 0.4;       // … and from here up at the start: the way back magnifies by 1/0.4 at most

  friend bool operator==(const DegradationNetworkConfig&, const DegradationNetworkConfig&) = default;
};

void to_json(Json& json, const DegradationNetworkConfig& config);
void from_json(const Json& json, DegradationNetworkConfig& config);

// g ≈ T∘D as cells of pixels, two couplings and one surjection, between two curves:
//   a curve a colour; unshuffle; Q, then the lower half of the frequencies moves by a function of the upper; the upper half by a function of the lower;
//   the surjection keeps T's frequencies; a curve each.
// The curves are for what D does to pixels (tone, clipping, rounding) and to coefficients (JPEG's rounding). With `warp`, two LineMaps stand
// before all of them: for what D does to places (a lens).
// The second coupling is what makes steps possible: a surjection is affine in what it keeps, and only what it discards enters s and t. A
// discarded frequency that has been told of a kept one lets t bend that one.
SpnnConfig degradation_network(const Reduction& T, const DegradationNetworkConfig& config);

// Weights at which g is T itself, exactly: the best that is known without looking at D.
void start_at(Spnn& net, const Reduction& T, const Rng& rng);

// From there, rows and columns at what pictures x and v = D(x) say: where pixels come from, then the best matrices for rows and for columns in
// turn. Nothing for a network without `warp`.
void start_warp(Spnn& net, const Tensor& x, const Tensor& v, const DegradationNetworkConfig& config);

// From there, the curves at what pictures x and v = D(x) say: colours at the mean of v given x, outputs at that of T v given what enters.
void start_curves(Spnn& net, const Reduction& T, const Tensor& x, const Tensor& v);

// B with U(B) = U by Cayley's map. requires: U orthogonal without the eigenvalue −1.
Tensor cayley_weights(const Tensor& U);

}  // namespace spnn
