#pragma once

#include <spnn/blocks/monotone_spline.h>
#include <spnn/flows/coupling_layer.h>

namespace spnn {

struct SplineShape {
  std::int64_t pieces = 8;   // K
  double bound = 4.0;        // B
};

// Neural spline flows (Durkan et al. 2019): every entry through a rising spline of K pieces from [−B, B] onto itself, the
// identity beyond. The net gives, for each moved channel, K raw widths, K raw heights and the K−1 raw slopes between the
// pieces; of zeros it is the identity.
class SplineCouplingLayer final : public CouplingLayer {
 public:
  SplineCouplingLayer(const CouplingLayerConfig& config, const SplineShape& shape, std::shared_ptr<Subnet> net);

  static std::int64_t outputs_per_channel(const SplineShape& shape) { return 3 * shape.pieces - 1; }

 private:
  Moved move(const Tensor& x, const Tensor& theta) const override;
  Tensor move_back(const Tensor& y, const Tensor& theta) const override;

  MonotoneSpline spline(const Tensor& theta) const;   // one curve per entry
  Tensor knots(const Tensor& raw) const;              // from −B to B, [..., K] to [..., K+1]

  SplineShape shape_;
};

}  // namespace spnn
