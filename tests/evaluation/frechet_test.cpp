#include <gtest/gtest.h>
#include <spnn/core/rng.h>
#include <spnn/evaluation/frechet.h>

#include <cmath>

#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

Gaussian gaussian(const Tensor& mean, const Tensor& covariance) { return {mean, covariance, 1000}; }

TEST(Frechet, DistanceToItselfIsZero) {
  const auto a = gaussian_of(Rng(1).randn({200, 12}));
  EXPECT_NEAR(frechet_distance(a, a), 0, 1e-9);
}

TEST(Frechet, IsSymmetric) {
  const auto a = gaussian_of(Rng(1).randn({50, 9})), b = gaussian_of(Rng(2).randn({80, 9}) * 2 + 1);
  EXPECT_NEAR(frechet_distance(a, b), frechet_distance(b, a), 1e-9);
}

TEST(Frechet, CommutingGaussiansHaveTheClosedForm) {
  const auto va = torch::tensor({1.0, 4.0, 0.25}, torch::kFloat64), vb = torch::tensor({9.0, 1.0, 0.0}, torch::kFloat64);
  const auto shift = torch::tensor({1.0, -2.0, 0.5}, torch::kFloat64);
  const auto a = gaussian(torch::zeros({3}, torch::kFloat64), torch::diag(va)), b = gaussian(shift, torch::diag(vb));
  const double expected = (shift.square().sum() + (va.sqrt() - vb.sqrt()).square().sum()).item<double>();
  EXPECT_NEAR(frechet_distance(a, b), expected, 1e-10);
}

TEST(Frechet, DoesNotDependOnTheCoordinates) {
  const auto a = Rng(1).randn({60, 5}, torch::kFloat64), b = Rng(2).randn({60, 5}, torch::kFloat64) * 1.7;
  const auto rotation = std::get<0>(torch::linalg_qr(Rng(3).randn({5, 5}, torch::kFloat64)));
  EXPECT_NEAR(frechet_distance(gaussian_of(a), gaussian_of(b)),
              frechet_distance(gaussian_of(a.matmul(rotation)), gaussian_of(b.matmul(rotation))), 1e-9);
}

TEST(Frechet, FewerSamplesLookFurtherAway) {
  const auto reference = gaussian_of(Rng(1).randn({4000, 16}));
  EXPECT_GT(frechet_distance(gaussian_of(Rng(2).randn({40, 16})), reference),
            4 * frechet_distance(gaussian_of(Rng(3).randn({4000, 16})), reference));
}

TEST(Frechet, RefusesASingleImage) {
  EXPECT_THAT(testing::refusal([] { gaussian_of(torch::zeros({1, 4})); }), ::testing::HasSubstr("two images or more"));
}

}  // namespace
}  // namespace spnn
