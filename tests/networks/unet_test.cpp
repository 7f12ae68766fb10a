#include <gmock/gmock.h>
#include <spnn/core/errors.h>
#include <spnn/layers/init.h>
#include <spnn/networks/unet.h>

#include "support/parity.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using spnn::testing::TensorNear;

void expect_parity(const std::string& name) {
  torch::NoGradGuard no_grad;
  const auto fixture = testing::parity_fixture(name);
  UNet net(fixture.at("config").get<UNetConfig>());
  const auto weights = testing::parity_weights(fixture);
  const auto parameters = net.named_parameters();
  ASSERT_EQ(parameters.size(), weights.size());
  for (const auto& item : parameters) {
    ASSERT_TRUE(weights.contains(item.key())) << item.key();
    ASSERT_EQ(item.value().sizes(), weights.at(item.key()).sizes()) << item.key();
    item.value().detach().copy_(weights.at(item.key()));
  }
  EXPECT_EQ(parameter_count(net), fixture.at("parameters").get<std::int64_t>());
  const auto x = testing::fill(fixture.at("x").at("shape").get<std::vector<std::int64_t>>(), 1001, 1.0);
  const auto t = torch::tensor(fixture.at("t").get<std::vector<double>>());
  testing::expect_summary(net.forward(x, t), fixture.at("eps"), 1e-4);
}

TEST(UNet, GivesThePublicNetworksNumbersAt32) { expect_parity("unet32"); }
TEST(UNet, GivesThePublicNetworksNumbersAt256) { expect_parity("unet256"); }

TEST(UNet, StartsAtZeroAndKeepsTheShapeBehindAStem) {
  UNet net({.image_size = 16, .ch = 16, .ch_mult = {1, 2}, .num_res_blocks = 1, .attn_resolutions = {4}, .stem = 2,
            .norm_groups = 8});
  initialise_unet(net, Rng(1));
  const auto x = Rng(2).randn({2, 3, 16, 16});
  EXPECT_THAT(net.forward(x, torch::tensor({3.0, 900.0})), TensorNear(torch::zeros_like(x), 0.0));
}

TEST(UNet, RefusesASizeThatTheLevelsDoNotDivide) {
  try {
    UNet net({.image_size = 36, .ch_mult = {1, 1, 1}, .stem = 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("unet.image_size: expected a multiple of 8, got 36"));
  }
}

TEST(UNetConfig, SurvivesJsonAndRefusesUnknownKeys) {
  const UNetConfig config{.ch = 48, .ch_mult = {1, 2, 4}, .stem = 2};
  EXPECT_EQ(Json(Json(config).get<UNetConfig>()), Json(config));
  try {
    Json{{"chanels", 3}}.get<UNetConfig>();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("got 'chanels'"));
  }
}

}  // namespace
}  // namespace spnn
