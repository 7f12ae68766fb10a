#include <gtest/gtest.h>
#include <spnn/blocks/cayley_mix.h>
#include <spnn/blocks/householder_mix.h>

#include "support/laws.h"
#include "support/random_fill.h"

namespace spnn {
namespace {

using testing::TensorNear;

double orthogonality(const Tensor& U) {
  return (U.t().mm(U) - torch::eye(U.size(0), U.options())).abs().max().item<double>();
}

template <class Mix, class Config>
std::shared_ptr<Mix> random_mix(const Config& config, torch::Dtype type) {
  auto mix = std::make_shared<Mix>(config);
  testing::fill_randomly(*mix, 5);
  mix->to(type);
  return mix;
}

std::shared_ptr<CayleyMix> random_cayley(std::int64_t n, torch::Dtype type = torch::kFloat64) {
  return random_mix<CayleyMix>(CayleyMixConfig{.channels = n}, type);
}

TEST(CayleyMix, IsOrthogonalToTheTypesPrecision) {
  const torch::NoGradGuard no_grad;
  EXPECT_LE(orthogonality(random_cayley(96)->matrix()), 1e-13);
  EXPECT_LE(orthogonality(random_cayley(96, torch::kFloat32)->matrix().to(torch::kFloat64)), 1e-6);
}

TEST(HouseholderMix, IsOrthogonalToTheTypesPrecision) {
  const torch::NoGradGuard no_grad;
  const HouseholderMixConfig config{.channels = 96, .reflections = 8};
  EXPECT_LE(orthogonality(random_mix<HouseholderMix>(config, torch::kFloat64)->matrix()), 1e-13);
  EXPECT_LE(orthogonality(random_mix<HouseholderMix>(config, torch::kFloat32)->matrix().to(torch::kFloat64)), 1e-6);
}

TEST(HouseholderMix, IsTheProductOfItsReflections) {
  const torch::NoGradGuard no_grad;
  const auto mix = random_mix<HouseholderMix>(HouseholderMixConfig{.channels = 5, .reflections = 2}, torch::kFloat64);
  const auto I = torch::eye(5, torch::kFloat64);
  const auto reflection = [&](const Tensor& v) { return I - 2 * torch::outer(v, v) / v.dot(v); };
  EXPECT_THAT(mix->matrix(), TensorNear(reflection(mix->weights()[0]).mm(reflection(mix->weights()[1])), 1e-12));
}

TEST(OrthogonalMix, IsComputedOncePerWeightVersion) {
  const torch::NoGradGuard no_grad;
  const auto mix = random_cayley(16);
  const auto first = mix->matrix();
  EXPECT_TRUE(first.is_same(mix->matrix()));
  Tensor(mix->weights()).mul_(2.0);
  const auto second = mix->matrix();
  EXPECT_FALSE(first.is_same(second));
  EXPECT_THAT(second, TensorNear(mix->matrix_of(mix->weights()), 1e-14));
  mix->to(torch::kFloat32);
  EXPECT_EQ(mix->matrix().scalar_type(), torch::kFloat32);
}

TEST(OrthogonalMix, CachedInInferenceModeServesTrainingLater) {
  const auto mix = random_cayley(8);
  {
    const c10::InferenceMode inference;
    (void)mix->matrix();
  }
  mix->weights().set_requires_grad(false);
  const auto x = Rng(1).randn({2, 8, 3, 3}, torch::kFloat64).requires_grad_(true);
  mix->forward(x).square().sum().backward();
  EXPECT_THAT(x.grad(), TensorNear(2 * x, 1e-12));   // ‖Ux‖² = ‖x‖²
}

TEST(MixScope, SharesOneMatrixWithGradients) {
  torch::nn::Module network;
  const auto mix = network.register_module("mix", random_cayley(8));
  Tensor inside;
  {
    const MixScope scope(network);
    inside = mix->matrix();
    EXPECT_TRUE(inside.is_same(mix->matrix()));
    EXPECT_TRUE(inside.requires_grad());
  }
  EXPECT_FALSE(inside.is_same(mix->matrix())) << "a scope's matrix must not outlive it";
}

// A loss that uses U and Uᵀ several times, as a training step does.
Tensor loss_of(const OrthogonalMix& mix, const Tensor& x) {
  const auto u = mix.forward(x);
  const auto bent = torch::tanh(u) * u.narrow(1, 0, 1);
  return (mix.inverse(bent) - 0.5 * mix.forward(mix.inverse(u.sin()))).pow(3).sum();
}

// Central differences in the direction of every tenth entry of B.
void expect_gradient_matches_finite_differences(const CayleyMix& mix, const Tensor& gradient, const Tensor& x) {
  const torch::NoGradGuard no_grad;
  auto flat = Tensor(mix.weights()).view({-1});
  const double h = 1e-6;
  for (std::int64_t i = 0; i < flat.numel(); i += std::max<std::int64_t>(1, flat.numel() / 40)) {
    flat[i] += h;
    const double up = loss_of(mix, x).item<double>();
    flat[i] -= 2 * h;
    const double down = loss_of(mix, x).item<double>();
    flat[i] += h;
    const double expected = (up - down) / (2 * h);
    EXPECT_NEAR(gradient.view({-1})[i].item<double>(), expected, 1e-6 * (1 + std::abs(expected))) << "entry " << i;
  }
}

TEST(MixScope, GradientsThroughTheSharedCayleyMatrixMatchFiniteDifferences) {
  torch::nn::Module network;
  const auto mix = network.register_module("mix", random_cayley(12));
  const auto x = Rng(2).randn({2, 12, 3, 2}, torch::kFloat64);
  {
    const MixScope scope(network);
    loss_of(*mix, x).backward();
  }
  expect_gradient_matches_finite_differences(*mix, mix->weights().grad(), x);
}

TEST(MixScope, GradientsThroughTheSharedFactorisationMatchFiniteDifferences) {
  torch::nn::Module network;
  const auto mix = network.register_module("mix", random_cayley(160));   // wide and 1×1: solved by LU, never formed
  const auto x = Rng(2).randn({3, 160, 1, 1}, torch::kFloat64);
  {
    const MixScope scope(network);
    const auto loss = loss_of(*mix, x);
    EXPECT_NEAR(loss.item<double>(), loss_of(*mix, x).item<double>(), 1e-9);
    loss.backward();
  }
  expect_gradient_matches_finite_differences(*mix, mix->weights().grad(), x);
}

TEST(MixScope, FactorisedAndFormedMatricesAgree) {
  torch::nn::Module network;
  const auto mix = network.register_module("mix", random_cayley(160));
  const auto x = Rng(2).randn({3, 160, 1, 1}, torch::kFloat64);
  const MixScope scope(network);
  EXPECT_THAT(mix->forward(x), TensorNear(mix_channels(mix->matrix(), x), 1e-12));
  EXPECT_THAT(mix->inverse(x), TensorNear(mix_channels(mix->matrix().t(), x), 1e-12));
}

}  // namespace
}  // namespace spnn
