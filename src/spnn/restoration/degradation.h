#pragma once

#include <spnn/checkpoint/models.h>
#include <spnn/degradations/black_box.h>
#include <spnn/degradations/fit_statistics.h>
#include <spnn/degradations/reduction.h>
#include <spnn/operators/catalogue.h>
#include <spnn/operators/measurement_noise.h>
#include <spnn/projection/back_projector.h>
#include <spnn/projection/pseudo_inverse.h>

#include <optional>

namespace spnn {

// What a network g was fitted to: g ≈ T∘D. From pairs of files D is not known.
struct FittedTo {
  Reduction T;
  BlackBox D;
  FitStatistics fit = {};   // empty in files that do not say
};

// What happened to the image, as methods see it: the map g with its back-projection, and where g is linear its
// decomposition.
struct Degradation {
  std::string name;
  std::shared_ptr<const BackProjector> g;
  LinearOperatorPtr linear = {};     // g itself, where it is linear
  LinearOperatorPtr A = {};          // its linear part, where it has one in closed form (g = A or A∘φ)
  bool intensities = true;           // y is a picture in pixel values
  std::shared_ptr<const JpegQuantization> rounding = {};   // g itself, where it rounds coefficients
  std::shared_ptr<const FittedTo> fitted = {};   // of `train degradation`

  bool has_truth() const { return fitted && fitted->D; }
  bool network() const { return A == nullptr; }
  Shape in_shape() const { return g->in_shape(); }

  // y without what g can never produce: noise under a mask, frequencies that a blur has lost.
  Tensor in_range(const Tensor& y) const;
  // g(x) with noise; image i's depends on its seed only. Where g was fitted to a known D the measurement is D's, T D(x): nothing in the
  // world applies g.
  Tensor measure(const Tensor& x, const MeasurementNoise& noise, const std::vector<std::uint64_t>& seeds) const;
  // A picture of y: y itself where it has 1 or 3 channels, else g†(y).
  Tensor picture(const Tensor& y) const;
  // Root mean square of g(x) − y per image, in units of pixels in [0, 1].
  Tensor inconsistency(const Tensor& x, const Tensor& y) const;
  // Root mean square of D(x̂) − v per image in the same units, v a degraded picture. requires: has_truth().
  Tensor true_inconsistency(const Tensor& x_hat, const Tensor& v) const;
};

Degradation degradation_of(const NamedOperator& made, Metric metric = Metric::residual);

struct DegradationChoice {
  std::string spec;                                           // of `spnn operators`, "model:FILE", or "network:FILE"
  Tensor masks = {};
  Metric metric = Metric::plain;
  PseudoInverse pseudo_inverse = PseudoInverse::learned;      // of a network
  std::optional<SpnnModel> network = {};                      // of "model:FILE", where it is loaded already
};
// The file of "model:FILE" and "network:FILE". The latter takes the network as what really happened: y = g(x), whatever g was fitted to.
std::optional<std::string> network_file(const std::string& spec);
Degradation make_degradation(const DegradationChoice& choice, const Shape& in);

}  // namespace spnn
