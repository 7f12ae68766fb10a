#pragma once

#include <spnn/operators/operator.h>

#include <optional>

namespace spnn {

// A = A_h ⊗ A_w on every channel: y = A_h X A_wᵀ.
struct SeparableFactors {
  Tensor A_h, A_w;   // [h, H] and [w, W], double
};

// A = U Σ Vᵀ with orthogonal transforms that are cheaper than matrices. Coordinates are vectors of the image's size n:
// entry i of Vᵀx and of Uᵀy belongs to the singular value S[i], which is 0 for what A does not see. Everything the
// methods of the field ask of an operator follows from these five functions.
class LinearOperator : public Operator {
 public:
  virtual Tensor Vt(const Tensor& x) const = 0;   // [B, n] from images
  virtual Tensor V(const Tensor& v) const = 0;    // images from [B, n]
  virtual Tensor Ut(const Tensor& y) const = 0;   // [B, n] from measurements; entries where S = 0 mean nothing
  virtual Tensor U(const Tensor& u) const = 0;    // measurements from [B, n]; entries where S = 0 are not looked at, or zero

  const Tensor& S() const { return S_; }          // [1 or B, n], double
  double norm() const { return norm_; }           // ‖A‖ = max S

  Tensor forward(const Tensor& x) const override;
  Completion complete(const Tensor& x) const override;   // z: the coordinates A does not see
  Tensor invert(const Completion& yz) const override;
  Tensor pinv(const Tensor& y) const override;           // Moore–Penrose
  Tensor adjoint(const Tensor& y) const;                 // Aᵀy
  Tensor null_part(const Tensor& x) const;               // (I − A†A) x

  bool onto() const { return onto_; }
  bool tight() const { return tight_; }                  // A Aᵀ = c² I: onto, and all singular values alike
  virtual std::optional<SeparableFactors> separable() const { return {}; }

 protected:
  explicit LinearOperator(std::string where) : where_(std::move(where)) {}
  void set_singular_values(const Tensor& S);             // to be called by every constructor
  const std::string& where() const { return where_; }

 private:
  Tensor S_like(const Tensor& v) const;
  Tensor inverse_S_like(const Tensor& v) const;

  std::string where_;
  Tensor S_, S_pinv_, unseen_;   // unseen: indices with S = 0, where one row serves all images
  double norm_ = 0;
  bool onto_ = false, tight_ = false;
};

// The interface form of an output with one pixel.
Tensor as_interface(const Tensor& y, const Shape& shape);

}  // namespace spnn
