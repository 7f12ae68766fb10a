#pragma once

#include <spnn/operators/composed_operator.h>
#include <spnn/operators/composition.h>
#include <spnn/operators/jpeg_quantization.h>

#include <string>
#include <vector>

namespace spnn {

// One line of `spnn operators`.
struct OperatorInfo {
  std::string name, parameters, what, pseudo_inverse;
};
const std::vector<OperatorInfo>& operator_catalogue();

// An operator made from its text. Exactly one of the two is the whole story: where `linear` is set, g is it.
struct NamedOperator {
  std::string spec;
  std::shared_ptr<const Operator> g;
  LinearOperatorPtr linear;      // none where a tone curve comes first
  LinearOperatorPtr A;           // the linear part: `linear`, or what follows the curves; the identity for clipping and JPEG; none for phases
  std::shared_ptr<const JpegQuantization> rounding = {};   // g, where y says of coefficients in which interval they lie
  bool intensities = true;       // y is a picture in pixel values (not so for Walsh–Hadamard coefficients)
};

// "sr4", "gauss:sigma=2+sr4", "gamma+sr4": stages in the order in which they act, tone curves first. `masks` [B, 1, H, W] are
// those of the stage `mask` where the text names no file. Unknown names and values are UsageErrors that say what would do.
NamedOperator make_operator(const std::string& spec, const Shape& in, const Tensor& masks = {});

}  // namespace spnn
