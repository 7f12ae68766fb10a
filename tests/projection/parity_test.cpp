#include <gtest/gtest.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/networks/presets.h>
#include <spnn/projection/nlbp.h>
#include <spnn/projection/spnn_projector.h>

#include "support/parity.h"

namespace spnn {
namespace {

using testing::TensorNear;

// The public reference's own numbers for weights anyone can regenerate; tolerances are those of the fixtures' README.
constexpr double output_tolerance = 1e-4;
constexpr double image_tolerance = 1e-3;

class SpnnParity : public ::testing::TestWithParam<const char*> {};

Tensor listed(const Json& values, const Tensor& like) {
  return torch::tensor(values.get<std::vector<double>>(), torch::kFloat64).reshape(like.sizes());
}

TEST_P(SpnnParity, MeetsThePublicNumbers) {
  const torch::NoGradGuard no_grad;
  const std::string size = GetParam();
  const auto fixture = testing::parity_fixture("spnn" + size);
  auto net = std::make_shared<Spnn>(spnn_preset("reference-" + size));
  load_into(*net, testing::parity_weights(fixture), "parity");
  const auto x = testing::fill(fixture.at("x").at("shape").get<std::vector<std::int64_t>>(), 1001, 1.0);
  const auto target = testing::fill({x.size(0), 40}, 1002, 2.0);
  testing::expect_summary(x, fixture.at("x"), 1e-6);

  const auto G_x = net->complete(x);
  testing::expect_summary(G_x.y, fixture.at("y"), output_tolerance);
  EXPECT_THAT(G_x.y, TensorNear(listed(fixture.at("y_full"), G_x.y), output_tolerance));
  std::size_t level = 0;
  for (const auto& z : fixture.at("z")) {
    if (!z.is_null()) testing::expect_summary(G_x.z.at(level++), z, output_tolerance);
  }
  EXPECT_EQ(level, G_x.z.size());

  testing::expect_summary(net->pinv(G_x.y), fixture.at("pinv_y"), image_tolerance);
  const auto back = net->pinv(target);
  testing::expect_summary(back, fixture.at("pinv_y_target"), image_tolerance);
  EXPECT_THAT(net->forward(back), TensorNear(listed(fixture.at("g_pinv_y_target"), target), output_tolerance));

  const SpnnProjector plain(net, {.pseudo_inverse = PseudoInverse::learned, .metric = Metric::plain});
  for (const auto& [lambda, expected] : fixture.at("nlbp").items()) {
    const auto moved = plain.nlbp(x, target, std::stod(lambda));
    testing::expect_summary(moved, expected.at("x"), image_tolerance);
    EXPECT_THAT(net->forward(moved), TensorNear(listed(expected.at("g_full"), target), output_tolerance));
  }
}

INSTANTIATE_TEST_SUITE_P(Reference, SpnnParity, ::testing::Values("32", "256"),
                         [](const auto& info) { return "Spnn" + std::string(info.param); });

}  // namespace
}  // namespace spnn
