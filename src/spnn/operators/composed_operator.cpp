#include <spnn/core/errors.h>
#include <spnn/operators/composed_operator.h>

namespace spnn {

ComposedOperator::ComposedOperator(std::shared_ptr<const Operator> A, std::shared_ptr<const ToneCurve> phi)
    : A_(std::move(A)), phi_(std::move(phi)) {
  require(A_ && phi_, "ComposedOperator", "an operator and a tone curve", "none");
}

}  // namespace spnn
