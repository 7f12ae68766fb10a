#include <gtest/gtest.h>
#include <spnn/projection/verify.h>

#include "support/small_network.h"

namespace spnn {
namespace {

Verification verified(torch::Dtype type, const std::shared_ptr<const Spnn>& net) {
  return verify_network(net, testing::small_input(4, type), testing::small_target(4, type));
}

TEST(Verify, FiveBlocksHoldEveryIdentityToRounding) {
  const auto in_double = verified(torch::kFloat64, testing::small_network(torch::kFloat64));
  EXPECT_TRUE(in_double.passed());
  for (const auto& residual : in_double.residuals) EXPECT_LE(residual.absolute, 1e-11) << residual.name;
  const auto in_float = verified(torch::kFloat32, testing::small_network(torch::kFloat32));
  EXPECT_TRUE(in_float.passed());
  for (const auto& residual : in_float.residuals) EXPECT_LE(residual.absolute, 1e-4) << residual.name;
}

TEST(Verify, NamesWhatTheIssueAsksFor) {
  const auto verification = verified(torch::kFloat64, testing::small_network(torch::kFloat64));
  std::vector<std::string> names;
  for (const auto& residual : verification.residuals) names.push_back(residual.name);
  EXPECT_EQ(names, (std::vector<std::string>{"round_trip", "right_inverse", "penrose_1", "penrose_2", "orthogonality",
                                             "nlbp_consistency", "null_drift_plain", "null_drift_residual"}));
  EXPECT_GT(verification.plain_drift_of_learned_r, 1e-3);
}

TEST(Verify, FindsAMixThatIsNotOrthogonal) {
  auto json = to_json(testing::small_network(torch::kFloat64)->config());
  json["blocks"][3]["mix"]["epsilon"] = 0.1;
  const auto net = std::make_shared<Spnn>(spnn_from_json(json));
  randomise_spnn(*net, Rng(6));
  net->to(torch::kFloat64);
  const auto verification = verify_network(net, testing::small_input(2, torch::kFloat64),
                                           testing::small_target(2, torch::kFloat64), {.tolerance = 1e-9});
  EXPECT_FALSE(verification.passed());
  for (const auto& residual : verification.residuals) {
    const bool must_fail = residual.name == "orthogonality" || residual.name == "round_trip";
    EXPECT_TRUE(!must_fail || !residual.passed()) << residual.name;
  }
}

TEST(Verify, FindsWeightsThatAreNotNumbers) {
  const auto net = std::make_shared<Spnn>(testing::small_network(torch::kFloat64)->config());
  randomise_spnn(*net, Rng(6));
  net->to(torch::kFloat64);
  {
    const torch::NoGradGuard no_grad;
    net->r_parameters().back().fill_(std::nan(""));
  }
  EXPECT_FALSE(verified(torch::kFloat64, net).passed());
}

}  // namespace
}  // namespace spnn
