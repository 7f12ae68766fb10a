#pragma once

#include <spnn/projection/back_projector.h>
#include <spnn/projection/pseudo_inverse.h>

#include <spnn/core/errors.h>

namespace spnn {

// Back-projection for any pseudo-invertible map with shapes, above all operators:
//   plain     z' = q(x) + λ (q(g†(y)) − q(g†(g(x))))
//   residual  z' = q(x) + q(g†(y')) − q(g†(g(x))),  y' = (1−λ) g(x) + λ y
// and x' = G⁻¹([y' | z']). Where q∘g† is constant — linear maps, A∘φ — both are G⁻¹([y' | q(x)]).
template <PseudoInvertible Map>
class MapProjector final : public BackProjector {
 public:
  explicit MapProjector(std::shared_ptr<const Map> map, Metric metric = Metric::residual)
      : map_(std::move(map)), metric_(metric) {
    require(map_ != nullptr, "MapProjector", "a map", "none");
  }

  Tensor forward(const Tensor& x) const override { return map_->forward(x); }
  Tensor pinv(const Tensor& y) const override { return map_->pinv(y); }

  using BackProjector::nlbp;
  Probe probe(const Tensor& x) const override {
    auto at = map_->complete(x);
    return {x, at.y, std::move(at)};
  }

  Tensor nlbp(const Probe& probe, const Tensor& y, const Tensor& lambda) const override {
    if (metric_ == Metric::naive) return naive(probe, y, lambda);
    const auto y_new = probe.y + broadcast_over(lambda, probe.y) * (y - probe.y);
    const auto from = map_->complete(map_->pinv(probe.y));
    const bool plain = metric_ == Metric::plain;
    const auto onto = map_->complete(map_->pinv(plain ? y : y_new));
    Completion moved{y_new, {}};
    for (std::size_t l = 0; l < from.z.size(); ++l) {
      const Tensor step = onto.z[l] - from.z[l];
      moved.z.push_back(probe.at.z[l] + (plain ? broadcast_over(lambda, step) * step : step));
    }
    return map_->invert(moved);
  }

  Shape in_shape() const override { return map_->in_shape(); }
  Shape out_shape() const override { return map_->out_shape(); }

 private:
  std::shared_ptr<const Map> map_;
  Metric metric_;
};

}  // namespace spnn
