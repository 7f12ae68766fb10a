#pragma once

#include <spnn/core/completion.h>
#include <spnn/core/pseudo_invertible.h>
#include <spnn/core/shape.h>

#include <memory>

namespace spnn {

// What one forward pass at x found, for targets and λ that depend on g(x): probe once, then project from the probe.
struct Probe {
  Tensor x;
  Tensor y;         // g(x)
  Completion at;    // the completion of x in the projector's metric
};

// Non-linear back-projection: x' with g(x') = (1−λ) g(x) + λ y that keeps, in its metric, what y does not speak of.
// λ is a number or one per image ([B]). Restoration works on this interface: networks and operators alike.
class BackProjector {
 public:
  virtual ~BackProjector() = default;

  virtual Tensor forward(const Tensor& x) const = 0;
  virtual Tensor pinv(const Tensor& y) const = 0;
  virtual Probe probe(const Tensor& x) const = 0;
  virtual Tensor nlbp(const Probe& probe, const Tensor& y, const Tensor& lambda) const = 0;

  Tensor nlbp(const Tensor& x, const Tensor& y, const Tensor& lambda) const { return nlbp(probe(x), y, lambda); }
  Tensor nlbp(const Tensor& x, const Tensor& y, double lambda = 1.0) const {
    return nlbp(x, y, torch::scalar_tensor(lambda, x.options()));
  }

  // x + λ (g†(y) − g†(g(x))): no completion, for the ablation. Consistent only where g is linear.
  Tensor naive(const Probe& probe, const Tensor& y, const Tensor& lambda) const {
    const auto step = pinv(y) - pinv(probe.y);
    return probe.x + broadcast_over(lambda, step) * step;
  }
  Tensor naive(const Tensor& x, const Tensor& y, double lambda = 1.0) const {
    return naive(Probe{x, forward(x), {}}, y, torch::scalar_tensor(lambda, x.options()));
  }

  virtual Shape in_shape() const = 0;
  virtual Shape out_shape() const = 0;
};

}  // namespace spnn
