#pragma once

#include <spnn/operators/linear_operator.h>
#include <spnn/projection/spnn_projector.h>

namespace spnn {

// g∘A for a network g of small images and a linear A (average pooling) that makes them from large ones:
//     G(x) = [g(A x) | q_g(A x) | V₀ᵀx],   (g∘A)†(y) = A†g†(y),
//     NLBP(x, y) = x + A†(NLBP_g(A x, y) − A x).
// What A discards, V₀ᵀx, is kept by every back-projection. With an A that is onto all laws of g hold for g∘A: exactness does
// not end at the size of the network.
class ComposedProjector final : public BackProjector {
 public:
  ComposedProjector(std::shared_ptr<const SpnnProjector> g, std::shared_ptr<const LinearOperator> A);

  Tensor small(const Tensor& x) const;   // A x, as g takes it
  Tensor forward(const Tensor& x) const override { return g_->forward(small(x)); }
  Completion complete(const Tensor& x) const;            // the z's of g, then V₀ᵀx
  Tensor invert(const Completion& yz) const;
  Tensor pinv(const Tensor& y) const override { return A_->pinv(g_->pinv(y)); }

  using BackProjector::nlbp;
  Probe probe(const Tensor& x) const override;           // its completion is that of A x in g's metric
  Tensor nlbp(const Probe& probe, const Tensor& y, const Tensor& lambda) const override;

  // x with its small image replaced, A x' = low, and its detail kept.
  Tensor with_small(const Tensor& x, const Tensor& low) const { return x + A_->pinv(low - small(x)); }

  Shape in_shape() const override { return A_->in_shape(); }
  Shape out_shape() const override { return g_->out_shape(); }
  const SpnnProjector& g() const { return *g_; }
  const LinearOperator& A() const { return *A_; }
  const SpnnProjectorConfig& config() const { return g_->config(); }

 private:
  std::shared_ptr<const SpnnProjector> g_;
  std::shared_ptr<const LinearOperator> A_;
};

static_assert(PseudoInvertible<ComposedProjector>);

// g behind the average pooling that brings square images of `size` pixels to its own size. A size that is no whole multiple
// of the network's is an Error.
std::shared_ptr<ComposedProjector> behind_pooling(std::shared_ptr<const SpnnProjector> g, std::int64_t size);

}  // namespace spnn
