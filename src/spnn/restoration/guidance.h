#pragma once

#include <spnn/restoration/lambda_schedule.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <limits>

namespace spnn {

using torch::Tensor;

struct GuidanceStep {
  std::int64_t t;          // of the training schedule
  const Tensor& y_cur;     // g(x̂0), [B, A]
  const Tensor& y_target;
};

// λ of each image, [B] in [0, 1]. Entry i depends on row i.
using Guidance = std::function<Tensor(const GuidanceStep&)>;

Guidance constant_lambda(double lambda);

// `early` at first, `late` once t is below `below`: the paper's reconstruction from semantics.
struct TwoLevel {
  double early = 0.5, late = 1.0;
  std::int64_t below = 600;
};
Guidance two_level_lambda(const TwoLevel& levels);

// α·tanh(γ·|Δ|), |Δ| the largest distance of a controlled output from its target; with none named, of any output.
struct AdaptiveLambda {
  double alpha = 1.0, gamma = 1.0;
  Tensor controlled = {};   // [S] int64
};
Guidance adaptive_lambda(const AdaptiveLambda& config);

// The steps at which guidance acts: to ≤ t < from, and of these every so many-th, counted back from the last one.
struct Window {
  std::int64_t from = std::numeric_limits<std::int64_t>::max(), to = 0;
  std::int64_t every = 1;
  bool contains(std::int64_t t, std::int64_t steps_left = 0) const {
    return to <= t && t < from && steps_left % every == 0;
  }
};

}  // namespace spnn
