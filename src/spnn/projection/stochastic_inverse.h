#pragma once

#include <spnn/networks/spnn.h>

#include <memory>

namespace spnn {

// A pseudo-inverse that draws: z_l ~ N(r_l(y_l), σ_l(y_l)²) level by level, in the manner of SurVAE's slice. r is the
// network's learned one, log σ a second set of nets of the same shape, the set of r nets called "log_scale". Every draw is
// a pre-image, g(x) = y; temperature 0 is g†(y). With g frozen,
//     log p(x) = log p(y) + Σ_l log N(z_l; r_l(y_l), σ_l(y_l)²) + log|det ∂G/∂x|,
// where only the sum depends on σ: minus that sum is what training minimises.
class StochasticInverse {
 public:
  static constexpr const char* scales = "log_scale";

  explicit StochasticInverse(std::shared_ptr<const Spnn> net);   // requires the set `scales`

  struct Draw {
    Rng rng{0};
    std::uint64_t first = 0;     // image i depends on (rng, first + i) only
    double temperature = 1;
  };
  Tensor sample(const Tensor& y, const Draw& draw) const;

  Tensor log_p(const Spnn::Trace& trace) const;         // log p(z | y), [B]
  std::int64_t discarded() const;                       // dimensions of all z together
  std::vector<double> chi_square(const Spnn::Trace& trace) const;   // mean ((z_l − r_l)/σ_l)² of each level: 1 where σ is right

 private:
  Tensor log_scale(std::size_t level, const Tensor& y_l) const;
  std::shared_ptr<const Spnn> net_;
};

// The mean over all pairs of images of their root mean square difference, [N, …].
double mean_pairwise_distance(const Tensor& images);

}  // namespace spnn
