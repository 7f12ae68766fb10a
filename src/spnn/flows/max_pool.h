#pragma once

#include <spnn/blocks/subnet.h>
#include <spnn/flows/squeeze.h>

namespace spnn {

struct MaxPoolConfig {
  Shape in;
  std::int64_t factor_h = 2;
  std::int64_t factor_w = 2;
};

// SurVAE's max-pooling: y = the largest of every cell. Backwards the place of the maximum is uniform over the k places of
// the cell, and each of the others lies below it by a half-normal step of deviation σ(y):
//     log p(x | y) = Σ_cells [ −log k + Σ_{k−1 others} log 2N(y − x_i; 0, σ²) ].
// A net gives log σ from y; without one σ = 1. z holds (y − x)/σ of all places, 0 at the maximum; for a z without a zero in
// some cell (between two images, say) the smallest entry takes its part.
class MaxPool final : public FlowLayer {
 public:
  MaxPool(const MaxPoolConfig& config, std::shared_ptr<Subnet> log_sigma);

  Observed observe(const Tensor& x) const override;
  Tensor invert(const Completion& yz) const override;
  bool discards() const override { return true; }
  Shape z_shape() const override { return squeeze_.out_shape(); }
  Tensor draw_z(const Draw& draw, torch::TensorOptions options) const override;

 private:
  Tensor cells(const Tensor& squeezed) const;      // [B, C·k, h, w] as [B, C, k, h, w]
  Tensor log_sigma(const Tensor& y) const;         // [B, C, 1, h, w]

  std::int64_t places_;   // k
  Squeeze squeeze_;
  std::shared_ptr<Subnet> net_;
};

}  // namespace spnn
