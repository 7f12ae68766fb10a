#pragma once

#include <spnn/networks/spnn.h>
#include <spnn/projection/back_projector.h>
#include <spnn/projection/pseudo_inverse.h>

#include <memory>
#include <mutex>
#include <optional>

namespace spnn {

struct SpnnProjectorConfig {
  PseudoInverse pseudo_inverse = PseudoInverse::learned;
  Metric metric = Metric::plain;
  std::uint64_t random_seed = 0;   // of the `random` choice
};

// A trained network seen with one choice of pseudo-inverse and one metric. It is itself pseudo-invertible —
// complete and invert are G, G⁻¹ (plain) or G_r, G_r⁻¹ (residual) — and back-projects with the fewest passes:
//   plain     1 forward + 2 inverse: the z's of g†(g(x)) are the r outputs of its inverse pass, those of g†(y) are
//             kept while y stays the same
//   residual  1 forward + 1 inverse: x' = G_r⁻¹([(1−λ) g(x) + λ y | q_r(x)])
// requires  weights that do not change while the projector lives (constants such as q(0) are kept).
class SpnnProjector final : public BackProjector {
 public:
  explicit SpnnProjector(std::shared_ptr<const Spnn> net, const SpnnProjectorConfig& config = {});

  Tensor forward(const Tensor& x) const override { return net_->forward(x); }
  Completion complete(const Tensor& x) const;
  Tensor invert(const Completion& yz) const;
  Tensor pinv(const Tensor& y) const override;

  using BackProjector::nlbp;
  Probe probe(const Tensor& x) const override;
  Tensor nlbp(const Probe& probe, const Tensor& y, const Tensor& lambda) const override;

  Shape in_shape() const override { return net_->in_shape(); }
  Shape out_shape() const override { return net_->out_shape(); }
  const Spnn& net() const { return *net_; }
  const SpnnProjectorConfig& config() const { return config_; }

  // The chosen z_l for a level's output y_l.
  Tensor predict(std::size_t level, const Tensor& y_l) const;

 private:
  struct Origin {
    std::vector<Tensor> z;         // q_l(0), [1, …]
    std::vector<Tensor> rho;       // ρ_l(y_l(0))
  };
  Origin origin() const;
  std::vector<Tensor> predictions(const Tensor& y) const;          // the z's of g†(y)
  std::vector<Tensor> target_predictions(const Tensor& y) const;   // the same, kept for the last y

  std::shared_ptr<const Spnn> net_;
  SpnnProjectorConfig config_;
  Spnn::RSet r_;                                                   // empty for `origin`
  Origin origin_;
  mutable std::mutex mutex_;
  mutable Tensor target_;
  mutable std::vector<Tensor> target_z_;
};

static_assert(PseudoInvertible<SpnnProjector>);

}  // namespace spnn
