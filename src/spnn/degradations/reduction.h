#pragma once

#include <spnn/core/shape.h>

#include <string>

namespace spnn {

// What of a degraded picture a pseudo-invertible g is asked for. g discards, so it cannot have all of D(x): its target is y = T D(x) with a
// fixed linear T of orthonormal rows, the low frequencies of each cell. Orthonormal, because then T† = Tᵀ and an error of y is an error of the
// picture, in the same units and weighed alike; low frequencies, because degradations keep them and lose the others.
//   dct:luma=28,chroma=6,block=8   the lowest frequencies of 8×8 blocks in zigzag order, so many of luma (Rec. 601) and of each of two
//                                  colour differences: JPEG's own blocks, so that a quantised coefficient is one entry of y
//   pool:2                         means over cells of 2×2 pixels, times 2
// y has `kept` channels and a pixel a cell.
class Reduction {
 public:
  Reduction(const std::string& spec, const Shape& picture);   // UsageError for what cannot be

  Tensor forward(const Tensor& v) const;   // T v
  Tensor picture(const Tensor& y) const;   // T†y = Tᵀy

  const std::string& spec() const { return spec_; }
  std::int64_t cell() const { return cell_; }
  std::int64_t kept() const { return kept_; }
  const Shape& in_shape() const { return in_; }
  Shape out_shape() const { return {kept_, in_.height / cell_, in_.width / cell_}; }

  // An orthogonal matrix [n, n] over the pixels of a cell in pixel_unshuffle's order, in double: T's rows first. The sign of a row means
  // nothing, and is chosen so that I + basis is well invertible: Cayley's map then reaches it, and a network can begin as T itself.
  const Tensor& basis() const { return basis_; }

 private:
  std::string spec_;
  Shape in_;
  std::int64_t cell_ = 0, kept_ = 0;
  Tensor basis_;
};

// All but the four highest frequencies of each colour. Restoration through g is better the more y speaks of, even of what D has erased: that a
// coefficient was rounded to zero is knowledge too, and Trust weighs it.
std::string default_reduction(const Shape& picture);

// Signs d, so that the pivots of I + diag(d) Q are 1 or larger in size: chosen one by one in an elimination of Q + diag(d).
Tensor cayley_signs(const Tensor& Q);

}  // namespace spnn
