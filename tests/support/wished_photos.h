#pragma once

#include <gtest/gtest.h>
#include <spnn/restoration/target.h>

#include "support/curved_projector.h"
#include "support/gaussian_prior.h"

namespace spnn::testing {

// Four small photos, a network and a prior, and a wish that none of them meets.
class WishedPhotos : public ::testing::Test {
 protected:
  static constexpr std::int64_t side = 8;
  static Shape shape() { return {3, side, side}; }
  // Output 2 at 3 or more.
  static Tensor third_up(const Tensor& y) {
    auto out = y.clone();
    out.select(1, 2).clamp_min_(3);
    return out;
  }
  void SetUp() override { ASSERT_LT(g.forward(photo).select(1, 2).max().item<double>(), 1.4) << "a wish that no photo meets already"; }

  GaussianPrior prior{shape(), 0.1, 0.25};
  CurvedProjector g{shape(), 5, 11};
  Tensor photo = Rng(9).uniform(shape().batched(4), torch::kFloat64) * 0.6 - 0.3;
  Observer observer;
};

}  // namespace spnn::testing
