#include <gtest/gtest.h>
#include <spnn/core/rng.h>
#include <spnn/evaluation/feature_distance.h>

namespace spnn {
namespace {

TEST(FeatureDistance, GrowsWithTheChangeAndIsOfEachImageByItself) {
  const auto x = (Rng(1).uniform({3, 3, 32, 32}) * 200 + 20).to(torch::kUInt8);
  Identity net({.image_size = 32, .widths = {8, 16}, .blocks = {1, 1}, .squeeze = 4, .features = 8, .outputs = 6, .norm_groups = 2});
  initialise_identity(net, Rng(2), x.to(torch::kFloat32) / 127.5 - 1);
  const auto noise = 255 * Rng(3).randn(x.sizes());
  const auto changed = [&](double by) { return (x.to(torch::kFloat32) + by * noise).clamp(0, 255).to(torch::kUInt8); };
  EXPECT_EQ(feature_distance(net, x, x).abs().max().item<float>(), 0);
  const auto little = feature_distance(net, changed(0.02), x), much = feature_distance(net, changed(0.2), x);
  ASSERT_EQ(little.sizes(), torch::IntArrayRef({3}));
  EXPECT_TRUE((little > 0).all().item<bool>());
  EXPECT_TRUE((much > 2 * little).all().item<bool>());
  EXPECT_TRUE((much <= 4).all().item<bool>());
  EXPECT_TRUE(torch::allclose(feature_distance(net, x, changed(0.2)), much)) << "symmetric";
  const auto second = feature_distance(net, changed(0.2).slice(0, 1, 2), x.slice(0, 1, 2));
  EXPECT_NEAR(second.item<float>(), much[1].item<float>(), 1e-5);
}

}  // namespace
}  // namespace spnn
