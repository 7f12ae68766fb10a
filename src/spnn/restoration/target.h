#pragma once

#include <spnn/restoration/strategy.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace spnn {

using torch::Tensor;

// Where the outputs should go, from where they are: y_target [B, A] from y_cur = g(x̂0) [B, A]. Row i depends on row i.
using Target = std::function<Tensor(const Tensor& y_cur)>;

// The same target at every step: reconstruction from semantics.
Target fixed(Tensor y);

// Mean [A] and covariance [A, A] of a network's outputs over its training images, and the outputs of some of these
// images themselves, [N, A] (undefined: none are known).
struct LogitStatistics {
  Tensor mean, covariance;
  Tensor exemplars = {};
};

// The largest |correlation| of output n with any other.
double strongest_correlation(const LogitStatistics& statistics, std::int64_t n);

struct AttributeChange {
  std::int64_t attribute = 0;
  bool present = true;
  Strategy strategy = Strategy::automatic;
};

struct AttributeTargetConfig {
  std::vector<AttributeChange> changes = {};
  double strength = 2.0;       // the goal is μ_n ± strength·σ_n
  double margin = 4.0;         // … but at least so far on the right side of 0: of a rare attribute even μ + 2σ says "no"
  double correlated = 0.45;
};

// y_cur with the controlled entries at their goal; one attribute, or several at once.
class AttributeTarget {
 public:
  // requires: attributes in range, none twice. Errors name the attribute's number.
  AttributeTarget(const LogitStatistics& statistics, const AttributeTargetConfig& config);

  Tensor operator()(const Tensor& y_cur) const;   // a Target

  const Tensor& controlled() const { return controlled_; }                  // [S] int64
  const Tensor& goal() const { return goal_; }                              // [S]
  const std::vector<Strategy>& strategies() const { return strategies_; }   // of each, `automatic` decided

 private:
  Tensor controlled_, goal_, response_;   // response [S, A]: what a unit change of each does to every output
  Tensor exemplars_, others_;             // [N, A] with the attributes; [A] weights of the distance. Undefined: not used
  std::vector<Strategy> strategies_;
};

// The outputs to expect of an image about which only the given attributes are known: μ moved to the goals along the
// covariance. [A].
Tensor expected_outputs(const LogitStatistics& statistics, AttributeTargetConfig config);

}  // namespace spnn
