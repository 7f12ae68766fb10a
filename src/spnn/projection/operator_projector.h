#pragma once

#include <spnn/operators/operator.h>
#include <spnn/projection/back_projector.h>
#include <spnn/projection/pseudo_inverse.h>

#include <memory>

namespace spnn {

// Back-projection for an operator:
//   plain     z' = q(x) + λ (q(g†(y)) − q(g†(g(x))))
//   residual  z' = q(x) + q(g†(y')) − q(g†(g(x))),  y' = (1−λ) g(x) + λ y
// and x' = G⁻¹([y' | z']). Where q∘g† is constant — linear maps, A∘φ — both are G⁻¹([y' | q(x)]).
class OperatorProjector final : public BackProjector {
 public:
  explicit OperatorProjector(std::shared_ptr<const Operator> g, Metric metric = Metric::residual);

  Tensor forward(const Tensor& x) const override { return g_->forward(x); }
  Tensor pinv(const Tensor& y) const override { return g_->pinv(y); }

  using BackProjector::nlbp;
  Probe probe(const Tensor& x) const override;
  Tensor nlbp(const Probe& probe, const Tensor& y, const Tensor& lambda) const override;

  Shape in_shape() const override { return g_->in_shape(); }
  Shape out_shape() const override { return g_->out_shape(); }

 private:
  std::shared_ptr<const Operator> g_;
  Metric metric_;
};

}  // namespace spnn
