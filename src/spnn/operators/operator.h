#pragma once

#include <spnn/core/completion.h>
#include <spnn/core/pseudo_invertible.h>
#include <spnn/core/shape.h>

namespace spnn {

// A map with a known pseudo-inverse that needs no training: degradations of restoration, sensors, colour and tone.
// The same family as an SPNN, with at most a few discarded parts.
//   requires  implementers give G as a bijection onto the range of g and the rest, and g† with g g† = I on that range.
//             Most operators are onto; a mask and a blur without its lost frequencies are not, and there g g† projects.
// Outputs with one pixel are [B, d], others [B, d, h, w].
class Operator {
 public:
  virtual ~Operator() = default;

  virtual Tensor forward(const Tensor& x) const = 0;         // g(x)
  virtual Completion complete(const Tensor& x) const = 0;    // G(x) = [g(x) | q(x)]
  virtual Tensor invert(const Completion& yz) const = 0;     // G⁻¹
  virtual Tensor pinv(const Tensor& y) const = 0;            // g†(y)

  virtual Shape in_shape() const = 0;
  virtual Shape out_shape() const = 0;
};

static_assert(PseudoInvertible<Operator>);

}  // namespace spnn
