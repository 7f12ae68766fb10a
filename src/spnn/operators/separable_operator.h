#pragma once

#include <spnn/operators/linear_operator.h>
#include <spnn/operators/svd.h>

namespace spnn {

struct SeparableConfig {
  Shape in;
  SeparableFactors factors = {};
  double cut = 0;   // singular values below cut·‖A‖ are taken as zero: what they carry is lost in rounding and noise
};

// A_h X A_wᵀ on every channel: the SVD of the whole is that of two small matrices. Bicubic reduction, Gaussian and uniform
// blur, and their compositions. With a cut the operator itself is without the cut frequencies, so that A† stays exact.
class SeparableOperator final : public LinearOperator {
 public:
  explicit SeparableOperator(const SeparableConfig& config, std::string where = "SeparableOperator");

  Tensor Vt(const Tensor& x) const override;
  Tensor V(const Tensor& v) const override;
  Tensor Ut(const Tensor& y) const override;
  Tensor U(const Tensor& u) const override;
  Shape in_shape() const override { return config_.in; }
  Shape out_shape() const override { return {config_.in.channels, h_.S.size(0), w_.S.size(0)}; }
  std::optional<SeparableFactors> separable() const override { return config_.factors; }

 private:
  SeparableConfig config_;
  SvdParts h_, w_;
};

}  // namespace spnn
