#pragma once

#include <spnn/operators/linear_operator.h>

namespace spnn {

struct RowSpaceConfig {
  Shape in, out;      // out: as many channels as in
  Tensor A;           // [out.height·out.width, in.height·in.width], any rank
  double cut = 0;     // singular values up to this share of the largest are taken as zero
};

// One matrix for every channel, with few rows beside its columns. Its singular vectors V₁ (n × r) come from the r × r eigenproblem of A Aᵀ, and the
// rest of an orthogonal V is that of the Householder reflectors of V₁, never written out: V costs n·r numbers, not n².
class RowSpaceOperator final : public LinearOperator {
 public:
  explicit RowSpaceOperator(const RowSpaceConfig& config, std::string where = "RowSpaceOperator");

  Tensor Vt(const Tensor& x) const override;
  Tensor V(const Tensor& v) const override;
  Tensor Ut(const Tensor& y) const override;
  Tensor U(const Tensor& u) const override;
  Shape in_shape() const override { return in_; }
  Shape out_shape() const override { return out_; }

 private:
  Tensor rows(const Tensor& x) const { return x.reshape({x.size(0) * in_.channels, -1}); }   // [B·C, …]

  Shape in_, out_;
  Tensor U_;                            // [m, r]
  Tensor reflectors_, scales_, signs_;  // of the QR decomposition of V₁: R is diag(±1)
};

// Sums of an image of height×width along parallel rays, `angles` directions over 180° and as many detectors as the diagonal has pixels, over the
// longer side: [angles·detectors, height·width]. A pixel's value is shared between the two detectors that its middle lies between.
Tensor radon_matrix(std::int64_t height, std::int64_t width, std::int64_t angles);
std::int64_t radon_detectors(std::int64_t height, std::int64_t width);

}  // namespace spnn
