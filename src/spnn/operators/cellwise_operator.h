#pragma once

#include <spnn/blocks/pixel_unshuffle.h>
#include <spnn/operators/linear_operator.h>
#include <spnn/operators/svd.h>

namespace spnn {

struct CellwiseConfig {
  Shape in;
  std::int64_t factor_h = 1;   // a cell is fh×fw pixels …
  std::int64_t factor_w = 1;
  Tensor A;                    // … of which A [m, C·fh·fw] sees the values, channel after channel
};

// A small linear map applied to every cell of the image: its SVD is that of the small matrix. y is [B, m, H/fh, W/fw].
class CellwiseOperator : public LinearOperator {
 public:
  CellwiseOperator(const CellwiseConfig& config, std::string where);

  Tensor Vt(const Tensor& x) const override;
  Tensor V(const Tensor& v) const override;
  Tensor Ut(const Tensor& y) const override;
  Tensor U(const Tensor& u) const override;
  Shape in_shape() const override { return cells_.in_shape(); }
  Shape out_shape() const override;

 private:
  PixelUnshuffle cells_;
  SvdParts parts_;
};

// The mean over factor×factor cells, colour by colour: super-resolution.
class AveragePooling final : public CellwiseOperator {
 public:
  AveragePooling(const Shape& in, std::int64_t factor);
  std::optional<SeparableFactors> separable() const override;

 private:
  std::int64_t factor_;
};

// A weighted sum of the colours: colourisation. Rec. 601 luma unless said.
class Grey final : public CellwiseOperator {
 public:
  explicit Grey(const Shape& in, const std::vector<double>& weights = {0.299, 0.587, 0.114});
};

}  // namespace spnn
