#pragma once

#include <spnn/blocks/block.h>
#include <spnn/blocks/monotone_spline.h>

namespace spnn {

struct CurveConfig {
  Shape in;
  std::int64_t pieces = 64;
  double slope_bound = 2.0;   // b: slopes of pieces lie within exp(±b), so that neither direction magnifies much more than that
};

// A rising curve a channel, the same at every pixel: tone curves, and as much of clipping and rounding as a bijection can have. The
// knots stay where they were put; the pieces' slopes exp(b·tanh(a)) and the height of the first knot are learned. A new curve is y = x on [−1, 1].
class Curve final : public Block {
 public:
  explicit Curve(const CurveConfig& config);

  Completion complete(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override { return pinv(yz.y); }
  Tensor pinv(const Tensor& y) const override;

  // Puts the knots evenly over the middle of each channel's values and the curve at the mean of `to` given `from`, made rising: the
  // best a curve can do, before any training. Both are [B, C, H, W].
  void start_at(const Tensor& from, const Tensor& to);

 private:
  MonotoneSpline spline() const;

  CurveConfig config_;
  Tensor knots_;    // [C, pieces + 1], a buffer
  Tensor slopes_;   // a, [C, pieces]
  Tensor first_;    // [C, 1]
};

}  // namespace spnn
