#pragma once

#include <spnn/projection/back_projector.h>

#include <memory>

namespace spnn {

// y ↦ A y + b on the outputs of a network. Edits of attributes are of this kind: a diagonal A turns each up or down, A = I − eₙeₙᵀ with
// b = v eₙ sets one. Maps whose A are diagonal and whose b are of other entries commute.
struct AffineMap {
  Tensor A;   // [d, d], in double
  Tensor b;   // [d]

  static AffineMap linear(const Tensor& A);
  static AffineMap identity(std::int64_t d);
  static AffineMap scaled(std::int64_t d, std::int64_t n, double factor);   // output n times a factor; −1 mirrors it
  static AffineMap setting(std::int64_t d, std::int64_t n, double value);   // output n is `value`: a projection

  Tensor operator()(const Tensor& y) const;      // [B, …] with d numbers per image
  AffineMap after(const AffineMap& first) const; // this ∘ first
  AffineMap power(std::int64_t n) const;         // n ≥ 0
  AffineMap pinv() const;                        // y ↦ A†(y − b)
};

// What becomes of the part of x that g discards.
enum class Lift {
  pseudo_inverse,   // f(x) = g†(A g(x) + b): forgotten, g† fills it. The surjective Linearizer
  completion,       // F(x) = G_r⁻¹([A g(x) + b | q_r(x)]): kept
};

// A matrix lifted to pictures: linear (or affine) in the coordinates of g, whatever it is in pixels. Because g g† = I,
//     f_A ∘ f_B = f_AB     f_Aⁿ = f_(Aⁿ)     A² = A ⇒ f² = f     f f⁺ f = f and f⁺ f f⁺ = f⁺ with f⁺ = f_(A†),
// without any training of A: n applications cost as much as one. f_I = g†g is the unit. The two other Penrose identities hold in the
// inner product that g induces, ⟨x, x'⟩ = g(x)·g(x'): f f⁺ and f⁺ f are self-adjoint there. With the completion the unit is the identity
// of pictures, and an invertible A lifts to a bijection of pictures whose inverse is the lift of A⁻¹.
//   requires  of the completion: a projector in the residual metric, whose back-projection keeps q_r to rounding.
class Linearizer {
 public:
  Linearizer(std::shared_ptr<const BackProjector> g, AffineMap map, Lift lift = Lift::pseudo_inverse);

  Tensor forward(const Tensor& x) const;
  Linearizer after(const Linearizer& first) const { return with(map_.after(first.map_)); }
  Linearizer power(std::int64_t n) const { return with(map_.power(n)); }
  Linearizer pinv() const { return with(map_.pinv()); }
  const AffineMap& map() const { return map_; }

 private:
  Linearizer with(AffineMap map) const { return {g_, std::move(map), lift_}; }

  std::shared_ptr<const BackProjector> g_;
  AffineMap map_;
  Lift lift_;
};

// The linear map that takes column c of M to column c + 1 and the last to the first: M P M⁻¹. With the mean outputs of classes as
// columns it takes class to class, and as many times as there are classes it is the identity. requires an invertible M.
AffineMap cycle_of(const Tensor& M);

}  // namespace spnn
