#include <gtest/gtest.h>
#include <spnn/flows/augment.h>
#include <spnn/flows/channel_mix.h>
#include <spnn/flows/max_pool.h>
#include <spnn/flows/slice.h>

#include <cmath>
#include <numbers>

#include "flows/jacobian.h"
#include "support/laws.h"
#include "support/random_fill.h"
#include "support/simple_subnet.h"

namespace spnn {
namespace {

using testing::SimpleSubnet;
using testing::TensorNear;

constexpr Shape surjected{6, 4, 2};
const auto in_double = torch::TensorOptions(torch::kFloat64);

std::shared_ptr<FlowLayer> slice(bool conditional) {
  auto layer = std::make_shared<Slice>(SliceConfig{.in = surjected, .kept_channels = 2},
                                       conditional ? std::make_shared<SimpleSubnet>(2, 8) : nullptr);
  testing::fill_randomly(*layer, 1);
  layer->to(torch::kFloat64);
  return layer;
}

std::shared_ptr<FlowLayer> pool(bool conditional) {
  auto layer = std::make_shared<MaxPool>(MaxPoolConfig{.in = surjected}, conditional ? std::make_shared<SimpleSubnet>(6, 6) : nullptr);
  testing::fill_randomly(*layer, 1);
  layer->to(torch::kFloat64);
  return layer;
}

TEST(Slice, ObeysTheLawsOfABlock) {
  for (const bool conditional : {false, true}) {
    const auto layer = slice(conditional);
    testing::expect_laws(*layer, Rng(2).randn(surjected.batched(3), in_double), Rng(3).randn(layer->out_shape().batched(3), in_double), 1e-9);
  }
}

TEST(Slice, LikelihoodIsThatOfItsStandardisingBijection) {
  const auto layer = slice(true);
  const auto x = Rng(4).randn(surjected.batched(1), in_double);
  const auto [yz, log_p] = layer->observe(x);
  const auto J = testing::jacobian(
      [&](const Tensor& v) {
        const auto both = layer->complete(v);
        return torch::cat({both.y.flatten(), both.z[0].flatten()});
      },
      x);
  const double expected = standard_normal_log_p(yz.z[0]).item<double>() + testing::log_abs_det(J);
  EXPECT_NEAR(log_p.item<double>(), expected, 1e-9);
}

TEST(MaxPool, RoundTripsAndIsARightInverse) {
  const auto layer = pool(true);
  const auto x = Rng(2).randn(surjected.batched(3), in_double), y = Rng(3).randn(layer->out_shape().batched(3), in_double);
  EXPECT_THAT(layer->forward(x), TensorNear(torch::max_pool2d(x, 2), 0.0));
  EXPECT_THAT(layer->invert(layer->complete(x)), TensorNear(x, 1e-12));
  EXPECT_THAT(layer->forward(layer->pinv(y)), TensorNear(y, 1e-12));
  const auto z = layer->draw_z({.rng = Rng(5), .count = 3}, in_double);
  EXPECT_THAT(layer->forward(layer->invert({y, {z}})), TensorNear(y, 1e-12));
  EXPECT_THAT(layer->complete(layer->invert({y, {z}})).z[0], TensorNear(z, 1e-9));
}

// p(x) = N(max x)·p(x | max x) over pairs must be a density: it sums up to 1.
TEST(MaxPool, LikelihoodIntegratesToOne) {
  MaxPool layer({.in = {1, 1, 2}, .factor_h = 1, .factor_w = 2}, std::make_shared<SimpleSubnet>(1, 1));
  testing::fill_randomly(layer, 3);
  layer.to(torch::kFloat64);
  const std::int64_t n = 1601;
  const double side = 32.0 / static_cast<double>(n - 1);
  const auto axis = torch::linspace(-16, 16, n, in_double) + side / 7;   // off the diagonal's kink
  const torch::NoGradGuard no_grad;
  double total = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto x = torch::stack({axis[i].expand({n}), axis}, 1).view({n, 1, 1, 2});
    const auto [yz, log_p] = layer.observe(x);
    total += torch::exp(log_p + standard_normal_log_p(yz.y)).sum().item<double>() * side * side;
  }
  EXPECT_NEAR(total, 1.0, 0.02);
}

TEST(MaxPool, DrawsThePlaceUniformlyAndTheOthersHalfNormally) {
  const MaxPool layer({.in = {1, 64, 64}}, nullptr);
  const auto z = layer.draw_z({.rng = Rng(1), .count = 8, .temperature = 0.5}, torch::kFloat64).transpose(0, 1).flatten(1);   // [4, cells]
  const auto at_max = z.eq(0).to(torch::kFloat64);
  EXPECT_THAT(at_max.sum(0), TensorNear(torch::ones({z.size(1)}), 0.0)) << "one maximum a cell";
  EXPECT_THAT(at_max.mean(1), TensorNear(torch::full({4}, 0.25), 0.02));
  EXPECT_NEAR(z.square().sum().item<double>() / (3.0 * static_cast<double>(z.size(1))), 0.25, 0.01) << "temperature ½";
  EXPECT_GE(z.min().item<double>(), 0);
}

// Data whose true density is known: i.i.d. half-normal and exponential values. The model is another density, so its mean
// log-likelihood stays below theirs (and above a floor: it is not just any number).
TEST(MaxPool, MeanLikelihoodStaysBelowTheTrueOne) {
  const MaxPool layer({.in = {1, 2, 2}}, nullptr);
  const std::int64_t n = 20000;
  const auto y_log_p = [](const Tensor& y) { return standard_normal_log_p(y - 1.5); };   // near the law of the maximum
  const auto normal = Rng(1).randn({n, 1, 2, 2}, in_double).abs();
  const auto exponential = -torch::log1p(-Rng(2).uniform({n, 1, 2, 2}, in_double));
  const double true_normal = (standard_normal_log_p(normal) + 4 * std::log(2.0)).mean().item<double>();
  const double true_exponential = -sum_per_image(exponential).mean().item<double>();
  for (const auto& [x, exact] : {std::pair{normal, true_normal}, std::pair{exponential, true_exponential}}) {
    const auto [yz, log_p] = layer.observe(x);
    const double model = (log_p + y_log_p(yz.y)).mean().item<double>();
    EXPECT_LT(model, exact);
    EXPECT_GT(model, exact - 6);
  }
}

// Where the data are the model's own, the likelihood is the exact one: the maximum by an exponential, the rest half-normal below.
TEST(MaxPool, IsExactOnItsOwnData) {
  const MaxPool layer({.in = {1, 2, 2}}, nullptr);
  const std::int64_t n = 64;
  const auto y = -torch::log1p(-Rng(2).uniform({n, 1, 1, 1}, in_double));
  const auto x = layer.invert({y, {layer.draw_z({.rng = Rng(3), .count = n}, in_double)}});
  const auto [yz, log_p] = layer.observe(x);
  const auto below = (y - x).flatten(1);
  const auto halves = 3 * std::log(2.0) - 1.5 * std::log(2 * std::numbers::pi) - 0.5 * below.square().sum(1);
  EXPECT_THAT(log_p, TensorNear(Tensor(halves - std::log(4.0)), 1e-12));
}

// x = the first entry of [x, e] = W⁻¹·N(0, I): p(x) is Gaussian in closed form, and so is p(e | x).
class AugmentedGaussian : public ::testing::Test {
 protected:
  // q: e ~ N(slope·x, deviation²), as a 1×1 net [mean | log_scale].
  class LinearNet final : public Subnet {
   public:
    LinearNet(double slope, double deviation) : slope_(slope), raw_(8 * std::atanh(std::log(deviation) / 8)) {}
    Tensor forward(const Tensor& u) const override { return torch::cat({slope_ * u, torch::full_like(u, raw_)}, 1); }
    torch::nn::Module& last_layer() override { return *this; }

   private:
    double slope_, raw_;
  };

  AugmentedGaussian() : mix({2, 1, 1}, Rng(1)) {
    testing::fill_randomly(mix, 5);
    mix.to(torch::kFloat64);
    const torch::NoGradGuard no_grad;
    const auto W = mix.matrix();
    const auto covariance = torch::linalg_inv(W.t().mm(W));
    variance = covariance[0][0].item<double>();
    slope = covariance[1][0].item<double>() / variance;
    deviation = std::sqrt(covariance[1][1].item<double>() - slope * slope * variance);
  }

  Tensor bound(const Augmentation& augmentation, const Tensor& x, const Tensor& noise) const {
    const auto lifted = augmentation.lift(x, noise);
    const auto [yz, log_p] = mix.observe(lifted.y);
    return lifted.log_p + log_p + standard_normal_log_p(yz.y);
  }

  double exact(double x) const { return -0.5 * x * x / variance - 0.5 * std::log(2 * std::numbers::pi * variance); }

  LuMixLayer mix;
  double variance = 0, slope = 0, deviation = 0;   // of x, and of e given x
};

TEST_F(AugmentedGaussian, TheBoundIsTightWhereQIsThePosterior) {
  const Augmentation augmentation({1, 1, 1}, 1, std::make_shared<LinearNet>(slope, deviation));
  for (const double x : {-2.0, 0.3, 1.7}) {
    const auto b = bound(augmentation, torch::full({8, 1, 1, 1}, x, in_double), Rng(2).randn({8, 1, 1, 1}, in_double));
    EXPECT_THAT(b, TensorNear(torch::full({8}, exact(x), in_double), 1e-9));
  }
}

TEST_F(AugmentedGaussian, TheBoundIsNeverAboveTheExactLikelihoodAndMissesItByTheDivergence) {
  const std::int64_t n = 40000;
  const auto noise = Rng(3).randn({n, 1, 1, 1}, in_double);
  for (const auto& [other_slope, other_deviation] : {std::pair{slope + 0.4, deviation}, std::pair{slope, 1.6 * deviation},
                                                    std::pair{0.0, 0.5 * deviation}}) {
    const Augmentation augmentation({1, 1, 1}, 1, std::make_shared<LinearNet>(other_slope, other_deviation));
    for (const double x : {-2.0, 0.3, 1.7}) {
      const auto b = bound(augmentation, torch::full({n, 1, 1, 1}, x, in_double), noise);
      const double mean = b.mean().item<double>(), error = b.std().item<double>() / std::sqrt(static_cast<double>(n));
      const double ratio = other_deviation / deviation, shift = (other_slope - slope) * x / deviation;
      const double divergence = 0.5 * (ratio * ratio + shift * shift - 1) - std::log(ratio);   // KL(q ‖ p(e | x))
      EXPECT_LT(mean - 5 * error, exact(x));
      EXPECT_NEAR(exact(x) - mean, divergence, 5 * error);
    }
  }
}

}  // namespace
}  // namespace spnn
