#include <gtest/gtest.h>
#include <spnn/projection/stochastic_inverse.h>

#include <cmath>
#include <numbers>

#include "support/random_fill.h"
#include "support/small_network.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using testing::TensorNear;

std::shared_ptr<const Spnn> network_with_scales() {
  auto net = std::make_shared<Spnn>(testing::small_network(torch::kFloat64)->config());
  net->add_r_set(StochasticInverse::scales, Rng(1));
  randomise_spnn(*net, Rng(6));
  net->to(torch::kFloat64);
  for (auto& parameter : net->parameters()) parameter.requires_grad_(false);
  return net;
}

TEST(StochasticInverse, EveryDrawIsAPreImageAndTheyDiffer) {
  const auto net = network_with_scales();
  const StochasticInverse inverse(net);
  const auto y = testing::small_target(1, torch::kFloat64).expand({8, -1}).contiguous();
  const auto x = inverse.sample(y, {.rng = Rng(3)});
  EXPECT_THAT(net->forward(x), TensorNear(y, 1e-9));
  EXPECT_GT(mean_pairwise_distance(x), 0.05);
  EXPECT_THAT(inverse.sample(y, {.rng = Rng(3), .temperature = 0}), TensorNear(net->pinv(y), 1e-12)) << "g† itself";
  EXPECT_THAT(inverse.sample(y.slice(0, 5, 6), {.rng = Rng(3), .first = 5}), TensorNear(x.slice(0, 5, 6), 1e-9))
      << "image i is the same in every batch";
}

// At its own draws (z − r)/σ is standard normal: χ² is 1, and log p is that of the normal by hand.
TEST(StochasticInverse, LikelihoodIsThatOfItsOwnDraws) {
  const auto net = network_with_scales();
  const StochasticInverse inverse(net);
  const auto y = testing::small_target(400, torch::kFloat64);
  const auto trace = net->trace(inverse.sample(y, {.rng = Rng(4)}));
  for (const double chi_square : inverse.chi_square(trace)) EXPECT_NEAR(chi_square, 1, 0.1);
  const auto at_mean = net->trace(net->pinv(y));
  const auto best = inverse.log_p(at_mean), drawn = inverse.log_p(trace);
  EXPECT_GT((best - drawn).mean().item<double>(), 0.45 * static_cast<double>(inverse.discarded())) << "½ a dimension below the mode";
}

TEST(StochasticInverse, AModelWithoutScalesIsRefused) {
  try {
    const StochasticInverse inverse(testing::small_network(torch::kFloat64));
    FAIL() << "it has none";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("expected a model with a log-scale for every level"), std::string::npos);
  }
}

TEST(PairwiseDistance, IsTheMeanOfRootMeanSquares) {
  const auto images = torch::tensor({{0.0, 0.0}, {3.0, 4.0}, {0.0, 2.0}}, torch::kFloat64).view({3, 1, 1, 2});
  const double expected = (5 + 2 + std::sqrt(13.0)) / 3 / std::sqrt(2.0);
  EXPECT_NEAR(mean_pairwise_distance(images), expected, 1e-12);
}

}  // namespace
}  // namespace spnn
