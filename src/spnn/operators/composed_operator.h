#pragma once

#include <spnn/operators/operator.h>
#include <spnn/operators/tone_curve.h>

#include <memory>

namespace spnn {

// g = A∘φ in closed form: G(x) = [Aφ(x) | q_A(φ(x))], G⁻¹ = φ⁻¹∘G_A⁻¹. The natural pseudo-inverse keeps the null-space part
// of the zero image, g†(y) = G⁻¹([y | q_A(φ(0))]): φ⁻¹(A†y) where φ(0) = 0 and A is linear. Nothing is trained.
class ComposedOperator final : public Operator {
 public:
  ComposedOperator(std::shared_ptr<const Operator> A, std::shared_ptr<const ToneCurve> phi);

  Tensor forward(const Tensor& x) const override { return A_->forward(phi_->forward(x)); }
  Completion complete(const Tensor& x) const override { return A_->complete(phi_->forward(x)); }
  Tensor invert(const Completion& yz) const override { return phi_->inverse(A_->invert(yz)); }
  Tensor pinv(const Tensor& y) const override;
  Shape in_shape() const override { return A_->in_shape(); }
  Shape out_shape() const override { return A_->out_shape(); }
  const Operator& A() const { return *A_; }

 private:
  std::shared_ptr<const Operator> A_;
  std::shared_ptr<const ToneCurve> phi_;
  std::vector<Tensor> origin_;   // q_A(φ(0)); empty where φ(0) = 0
};

}  // namespace spnn
