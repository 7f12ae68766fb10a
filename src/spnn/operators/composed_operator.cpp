#include <spnn/core/errors.h>
#include <spnn/operators/composed_operator.h>

namespace spnn {

ComposedOperator::ComposedOperator(std::shared_ptr<const Operator> A, std::shared_ptr<const ToneCurve> phi)
    : A_(std::move(A)), phi_(std::move(phi)) {
  require(A_ && phi_, "ComposedOperator", "an operator and a tone curve", "none");
  const torch::NoGradGuard no_grad;
  const auto zero = phi_->forward(torch::zeros(A_->in_shape().batched(1), torch::kFloat64));
  if (!zero.eq(0).all().item<bool>()) origin_ = A_->complete(zero).z;
}

Tensor ComposedOperator::pinv(const Tensor& y) const {
  if (origin_.empty()) return phi_->inverse(A_->pinv(y));
  Completion natural{y, {}};
  for (const auto& z : origin_) {
    auto sizes = z.sizes().vec();
    if (sizes[0] == 1) sizes[0] = y.size(0);   // an operator with a mask for each image has a z for each
    natural.z.push_back(z.to(y.options()).expand(sizes));
  }
  return invert(natural);
}

}  // namespace spnn
