// Phase retrieval, clipping and JPEG: what takes the place of the general laws where y leaves only some z open.

#include <gtest/gtest.h>
#include <spnn/core/rng.h>
#include <spnn/degradations/boxes.h>
#include <spnn/image/image.h>
#include <spnn/operators/catalogue.h>
#include <spnn/projection/operator_projector.h>
#include <spnn/projection/nlbp.h>

#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::refusal;
using testing::TensorNear;

constexpr Shape kPicture{3, 16, 16};

Tensor some_images(std::uint64_t seed, torch::Dtype type = torch::kFloat64) { return Rng(seed).uniform(kPicture.batched(2), type) * 2 - 1; }

class OpenCompletions : public ::testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<const Operator> g = make_operator(GetParam(), kPicture).g;
};

TEST_P(OpenCompletions, HoldTheLawsOfAPseudoInverse) {
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    const double tolerance = type == torch::kFloat64 ? 1e-9 : 2e-4;
    const auto x = some_images(1, type), y = g->forward(some_images(2, type));
    EXPECT_THAT(g->complete(x).y, TensorNear(g->forward(x), tolerance));
    EXPECT_THAT(g->invert(g->complete(x)), TensorNear(x, tolerance)) << "G⁻¹(G(x)) = x";
    EXPECT_THAT(g->forward(g->pinv(y)), TensorNear(y, tolerance)) << "g(g†(y)) = y";
    EXPECT_THAT(g->pinv(g->forward(g->pinv(y))), TensorNear(g->pinv(y), tolerance));
    const auto moved = nlbp(*g, x, y);
    EXPECT_THAT(g->forward(moved), TensorNear(y, tolerance)) << "g(NLBP(x, y)) = y";
    EXPECT_THAT(nlbp(*g, moved, y), TensorNear(moved, tolerance)) << "a projection";
    const OperatorProjector projector(g, Metric::plain);
    EXPECT_THAT(projector.nlbp(x, y), TensorNear(moved, tolerance));
  }
}

INSTANTIATE_TEST_SUITE_P(All, OpenCompletions, ::testing::Values("phase:oversample=1", "hdr", "hdr:scale=5", "jpeg:quality=30", "jpeg:quality=80", "gamma+hdr"),
                         [](const auto& info) { return "Case" + std::to_string(info.index); });

TEST(Phase, NlbpKeepsThePhasesAndTakesTheMagnitudes) {
  const auto g = make_operator("phase:oversample=1", kPicture).g;
  const auto x = some_images(1), y = g->forward(some_images(2));
  const auto before = g->complete(x), after = g->complete(nlbp(*g, x, y));
  EXPECT_THAT(torch::cos(after.z[0] - before.z[0]), TensorNear(torch::ones_like(after.z[0]), 1e-9));
  EXPECT_THAT(g->forward(nlbp(*g, x, y, 0.3)), TensorNear(before.y * 0.7 + y * 0.3, 1e-9));
}

// No completion there: a step reduces the error, it does not remove it.
TEST(Phase, OversampledBackProjectionReducesTheError) {
  const auto g = make_operator("phase:oversample=2", kPicture).g;
  EXPECT_EQ(g->out_shape(), (Shape{3, 32, 32}));
  const auto y = g->forward(some_images(2));
  const OperatorProjector projector(g);
  auto x = some_images(1);
  double last = (g->forward(x) - y).norm().item<double>();
  const double first = last;
  for (int k = 0; k < 5; ++k) {
    x = projector.nlbp(x, y);
    const double now = (g->forward(x) - y).norm().item<double>();
    EXPECT_LT(now, last);
    last = now;
  }
  EXPECT_GT(last, 0.01 * first);
  EXPECT_THAT(g->invert(g->complete(x)), TensorNear(x, 1e-9)) << "with its own phases the image comes back";
}

TEST(Hdr, NlbpIsTheNearestImageWithThisMeasurement) {
  const auto g = make_operator("hdr", kPicture).g;
  const auto x = some_images(1), other = some_images(2), y = g->forward(other);
  const auto moved = nlbp(*g, x, y);
  const auto distance = [&](const Tensor& at) { return (at - x).flatten(1).norm(2, 1); };
  EXPECT_TRUE((distance(moved) < distance(other)).all().item<bool>());
  EXPECT_TRUE((distance(moved) < distance(g->pinv(y))).all().item<bool>());
  const auto open = y.abs() >= 1, agrees = open & (x * y >= 0.5);
  EXPECT_THAT(moved.masked_select(agrees), TensorNear(x.masked_select(agrees), 1e-12)) << "what y leaves open stays";
}

TEST(Jpeg, IsWhatTheEncoderDoes) {
  const auto at = torch::linspace(-2, 2, 16, torch::kFloat64);   // smooth, inside of [0, 255], so that the decoder clips nothing
  const auto wave = (torch::sin(at.unsqueeze(0) * 1.3) * torch::cos(at.unsqueeze(1)) * 0.6).to(torch::kFloat32);
  const auto x = to_unit(to_bytes(torch::stack({wave, wave.t() * 0.5, -wave}).unsqueeze(0)));
  for (const int quality : {20, 60}) {
    const auto g = make_operator("jpeg:quality=" + std::to_string(quality), kPicture).g;
    const auto real = boxes::jpeg(x, quality);
    // The encoder rounds colours to whole numbers first, which tips coefficients near the middle between two steps, so that g(x) need not be
    // its picture. But its picture has coefficients on the steps, if transform and tables are the same: g leaves it as it is, but for the
    // rounding to bytes.
    const auto moved = (g->forward(real) - real).abs().mean().item<double>();
    EXPECT_LT(moved, 2.0 / 255) << quality;
    EXPECT_GT((g->forward(x) - x).abs().mean().item<double>(), 2 * moved) << quality;
  }
}

TEST(NonLinear, StandAloneOrAfterCurves) {
  EXPECT_EQ(refusal([] { make_operator("gamma+phase", kPicture); }), "");
  EXPECT_THAT(refusal([] { make_operator("gauss+hdr", kPicture); }), HasSubstr("expected 'hdr' alone or after tone curves"));
  EXPECT_THAT(refusal([] { make_operator("hdr:scale=1", kPicture); }), HasSubstr("a scale above 1"));
  EXPECT_THAT(refusal([] { make_operator("jpeg", {3, 12, 16}); }), HasSubstr("multiples of 8"));
  EXPECT_THAT(refusal([] { make_operator("radon:angles=200", {3, 256, 256}); }), HasSubstr("few angles of a small image"));
}

}  // namespace
}  // namespace spnn
