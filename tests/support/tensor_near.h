#pragma once

#include <gmock/gmock.h>
#include <spnn/core/shape.h>

namespace spnn::testing {

inline double largest_difference(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0) return 0;
  return (a.to(torch::kFloat64) - b.to(torch::kFloat64)).abs().max().item<double>();
}

// EXPECT_THAT(g.forward(g.pinv(y)), TensorNear(y, 1e-9));
MATCHER_P2(TensorNear, expected, tolerance, "") {
  if (arg.sizes() != expected.sizes()) {
    *result_listener << "shape " << to_string(arg.sizes()) << " instead of " << to_string(expected.sizes());
    return false;
  }
  const double difference = largest_difference(arg, expected);
  *result_listener << "largest difference " << difference;
  return difference <= tolerance;   // false for NaN
}

}  // namespace spnn::testing
