#include <spnn/layers/init.h>
#include <spnn/networks/judge.h>

#include "support/damage.h"
#include "support/tensor_near.h"

using namespace spnn;
using namespace spnn::testing;
using ::testing::HasSubstr;

TEST(Judge, LogitsAreALinearMapOfItsFeatures) {
  Judge judge({.image_size = 16, .in_channels = 1, .widths = {8, 16}, .blocks = {1, 2}, .squeeze = 4, .features = 10, .outputs = 3});
  initialise_judge(judge, Rng(1));
  const auto x = Rng(2).randn({5, 1, 16, 16});
  EXPECT_EQ(judge.features(x).sizes().vec(), (std::vector<std::int64_t>{5, 10}));
  EXPECT_THAT(judge.forward(x), TensorNear(torch::zeros({5, 3}), 0));   // the head starts at zero
  initialise(judge, Rng(3));
  EXPECT_THAT(judge.forward(x), TensorNear(judge.logits(judge.features(x)), 0));
  EXPECT_GT(judge.forward(x).std().item<double>(), 0);
  EXPECT_THAT(judge.forward(x.narrow(0, 2, 1)), TensorNear(judge.forward(x).narrow(0, 2, 1), 1e-5));
}

TEST(Judge, WithItsMirrorSaysTheSameOfAnImageAndItsMirrorImage) {
  const torch::NoGradGuard no_grad;
  JudgeConfig config{.image_size = 16, .in_channels = 1, .widths = {8, 16}, .blocks = {1, 1}, .squeeze = 4, .features = 10, .outputs = 3};
  const auto x = Rng(1).randn({2, 1, 16, 16});
  for (const bool mirror : {false, true}) {
    config.mirror = mirror;
    Judge judge(config);
    initialise_judge(judge, Rng(2));
    EXPECT_EQ(torch::allclose(judge.features(x), judge.features(x.flip(3))), mirror);
  }
}

TEST(Judge, ConfigurationSurvivesJsonAndIsChecked) {
  const JudgeConfig config{.image_size = 32, .widths = {16, 32, 64}, .blocks = {1, 1, 1}, .outputs = 7};
  EXPECT_EQ(Json(config).get<JudgeConfig>(), config);
  auto wrong = Json(config);
  wrong["image_size"] = 36;
  EXPECT_THAT(refusal([&] { wrong.get<JudgeConfig>(); }), HasSubstr("judge.image_size: expected a multiple of 8, got 36"));
  wrong["image_size"] = 32;
  wrong["depth"] = 3;
  EXPECT_THAT(refusal([&] { wrong.get<JudgeConfig>(); }), HasSubstr("'depth'"));
  Judge judge({.image_size = 16, .widths = {8}, .blocks = {1}});
  EXPECT_THAT(refusal([&] { judge.forward(torch::zeros({1, 3, 8, 8})); }), HasSubstr("Judge: expected"));
}
