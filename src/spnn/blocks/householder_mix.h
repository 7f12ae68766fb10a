#pragma once

#include <spnn/blocks/orthogonal_mix.h>

namespace spnn {

struct HouseholderMixConfig {
  std::int64_t channels = 0;
  std::int64_t reflections = 8;
};

// U = H_1 H_2 … H_k with H_i = I − 2 v_i v_iᵀ/‖v_i‖²: fewer weights (k·C) than Cayley, and exactly orthogonal for
// any v. Built with unit vectors (a v of zero length has no reflection); spnn initialisation draws them at random.
class HouseholderMix final : public OrthogonalMix {
 public:
  explicit HouseholderMix(const HouseholderMixConfig& config);

  const Tensor& weights() const override { return V_; }
  Tensor matrix_of(const Tensor& V) const override;

 private:
  Tensor V_;   // [k, C]
};

}  // namespace spnn
