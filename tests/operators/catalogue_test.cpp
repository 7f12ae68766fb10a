#include <gtest/gtest.h>
#include <spnn/core/rng.h>
#include <spnn/image/image.h>
#include <spnn/operators/catalogue.h>
#include <spnn/operators/hadamard_operator.h>
#include <spnn/operators/inpainting.h>
#include <spnn/operators/line_matrices.h>
#include <spnn/operators/masks.h>
#include <spnn/operators/measurement_noise.h>

#include "support/damage.h"
#include "support/temporary.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::refusal;
using testing::TensorNear;

constexpr Shape catalogued{3, 8, 8};

std::string refused(const std::string& spec, const Shape& shape = catalogued) {
  return refusal([&] { make_operator(spec, shape); });
}

TEST(Catalogue, EveryOperatorIsMadeFromItsName) {
  for (const auto& info : operator_catalogue()) {
    if (info.name == "kernel" || info.name == "mask" || info.name == "model" || info.name == "network") continue;   // these need files
    const auto made = make_operator(info.name, {3, 16, 16});
    EXPECT_EQ(made.g->in_shape(), (Shape{3, 16, 16})) << info.name;
    EXPECT_FALSE(info.pseudo_inverse.empty());
  }
}

TEST(Catalogue, SaysWhatWouldDo) {
  EXPECT_THAT(refused("gaus"), HasSubstr("expected one of 'spnn operators', got 'gaus' (did you mean gauss"));
  EXPECT_THAT(refused("gauss:width=3"), HasSubstr("operator gauss: expected sigma=…, cut=…, got 'width=3'"));
  EXPECT_THAT(refused("gauss:sigma=wide"), HasSubstr("expected a number for sigma, got 'wide'"));
  EXPECT_THAT(refused("sr3"), HasSubstr("8"));
  EXPECT_THAT(refused("cs:0.25", {3, 6, 6}), HasSubstr("expected an image whose number of pixels is a power of two, got 3×6×6"));
  EXPECT_THAT(refused("box:x=4,y=4,w=8,h=2"), HasSubstr("expected a box inside 8 × 8 pixels"));
  EXPECT_THAT(refused("sr2+gamma"), HasSubstr("expected tone curves before linear stages"));
  EXPECT_THAT(refused("random:keep=1.5"), HasSubstr("between 0 and 1"));
  EXPECT_THAT(refused("mask"), HasSubstr("expected mask:FILE, or masks given with --mask"));
  EXPECT_THAT(refused("grey", {1, 8, 8}), HasSubstr("expected an image of 3 channels, got 1×8×8"));
  EXPECT_THAT(refused("sr4++grey"), HasSubstr("stages joined by '+'"));
}

TEST(Composition, IsRefusedWhereNoExactInverseIsKnown) {
  const auto text = refused("aniso+sr4", {3, 32, 32});
  EXPECT_THAT(text, HasSubstr("the product of two pseudo-inverses is not one in general"));
  EXPECT_EQ(refused("gauss+sr4", {3, 32, 32}), "");
}

// The reason for all this care.
TEST(Composition, TheProductOfPseudoInversesIsNotThePseudoInverse) {
  const auto blur = make_operator("gauss:sigma=1", catalogued).linear, pool = make_operator("sr2", catalogued).linear;
  const auto both = compose(pool, blur, 0.0);
  const auto y = both->forward(Rng(1).uniform({1, 3, 8, 8}, torch::kFloat64));
  const auto naive = blur->pinv(pool->pinv(y));
  EXPECT_GT(testing::largest_difference(both->pinv(y), naive), 1e-2);
  EXPECT_GT(naive.norm().item<double>(), both->pinv(y).norm().item<double>()) << "A†y is the smallest solution";
}

TEST(LineMatrices, BicubicKeepsConstantsAndRamps) {
  const auto A = bicubic_line(32, 4);
  EXPECT_THAT(A.sum(1), TensorNear(torch::ones({8}, torch::kFloat64), 1e-12));
  const auto middle = A.mv(torch::arange(32, torch::kFloat64)).narrow(0, 2, 4);
  EXPECT_THAT(middle, TensorNear(torch::tensor({9.5, 13.5, 17.5, 21.5}, torch::kFloat64), 1e-9));
}

TEST(WalshHadamard, IsItsOwnInverseAndKeepsTheMean) {
  const auto x = Rng(2).randn({3, 16}, torch::kFloat64);
  EXPECT_THAT(walsh_hadamard(walsh_hadamard(x)), TensorNear(x, 1e-12));
  EXPECT_THAT(walsh_hadamard(x).select(1, 0), TensorNear(x.sum(1) / 4, 1e-12));
}

TEST(RandomOperators, KeepTheirRandomness) {
  const auto x = Rng(1).uniform({1, 3, 8, 8});
  for (const std::string spec : {"random:0.5", "freeform", "cs:0.3"}) {
    const auto once = make_operator(spec, catalogued).g->forward(x), again = make_operator(spec, catalogued).g->forward(x);
    EXPECT_TRUE(torch::equal(once, again)) << spec;
  }
  EXPECT_FALSE(torch::equal(random_mask(8, 8, 0.5, 0), random_mask(8, 8, 0.5, 1)));
}

TEST(Masks, OneForEachImageOfABatch) {
  const auto masks = torch::stack({box_mask(8, 8, {0, 0, 4, 8}), box_mask(8, 8, {4, 0, 4, 8})}).unsqueeze(1);
  const auto g = make_operator("mask", catalogued, masks).linear;
  const auto x = Rng(3).uniform({2, 3, 8, 8}, torch::kFloat64) + 1;
  const auto y = g->forward(x);
  EXPECT_EQ((y[0].slice(2, 0, 4) != 0).sum().item<int>(), 0);
  EXPECT_EQ((y[1].slice(2, 4, 8) != 0).sum().item<int>(), 0);
  EXPECT_THAT(g->invert(g->complete(x)), TensorNear(x, 1e-12));
  EXPECT_THAT(refusal([&] { g->forward(x.slice(0, 0, 1)); }), HasSubstr("expected a batch of 2, as there are masks, got 1"));
}

TEST(Masks, AreReadFromFiles) {
  const testing::TemporaryFolder folder;
  auto image = torch::zeros({1, 8, 8}, torch::kUInt8);
  image.slice(2, 0, 3).fill_(255);
  write_image(folder / "mask.png", image);
  EXPECT_TRUE(torch::equal(read_mask(folder / "mask.png", 8, 8), image[0] > 0));
  EXPECT_THAT(refusal([&] { read_mask(folder / "mask.png", 16, 16); }), HasSubstr("mask.png: expected a mask of 16 × 16 pixels, got 8 × 8"));
}

TEST(Kernels, AreReadFromTextAndRefusedWithTheLine) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder / "k.txt", "1 2 1\n2 4 2\n");
  const auto kernel = read_kernel(folder / "k.txt");
  EXPECT_THAT(kernel, TensorNear(torch::tensor({1.0, 2.0, 1.0, 2.0, 4.0, 2.0}, torch::kFloat64).reshape({2, 3}) / 12, 1e-12));
  EXPECT_EQ(refused("kernel:" + (folder / "k.txt").string()), "");
  testing::write_file(folder / "k.txt", "1 2 1\n2 4\n");
  EXPECT_THAT(refusal([&] { read_kernel(folder / "k.txt"); }), HasSubstr("k.txt:2: expected 3 numbers, got 2"));
}

TEST(MeasurementNoise, IsStatedInUnitsOfPixelsFromZeroToOne) {
  const auto y = torch::zeros({2, 3, 64, 64});
  const auto noisy = with_noise(y, noise_from("0.05"), {1, 2});
  EXPECT_NEAR(noisy.std().item<double>(), 0.1, 0.002) << "pixels from −1 to 1 have twice the deviation";
  EXPECT_NEAR(sigma_of(noise_from("0.05"), y), 0.1, 1e-12);
  EXPECT_TRUE(torch::equal(noisy.slice(0, 1, 2), with_noise(y.slice(0, 1, 2), noise_from("0.05"), {2}))) << "of its own seed only";
}

TEST(MeasurementNoise, PoissonHasTheVarianceOfItsMean) {
  const auto y = torch::full({1, 3, 64, 64}, 0.5);   // intensity 0.75
  const auto noise = noise_from("poisson:100");
  const auto noisy = (with_noise(y, noise, {7}) + 1) / 2;
  EXPECT_NEAR(noisy.mean().item<double>(), 0.75, 0.004);
  EXPECT_NEAR(noisy.std().item<double>(), std::sqrt(0.75 / 100), 0.003);
  EXPECT_NEAR(sigma_of(noise, y), 2 * std::sqrt(0.75 / 100), 1e-9);
}

TEST(MeasurementNoise, RefusesWhatIsNone) {
  EXPECT_THAT(refusal([] { noise_from("-0.1"); }), HasSubstr("expected a standard deviation from 0 to 1 in [0, 1] pixel units, got '-0.1'"));
  EXPECT_THAT(refusal([] { noise_from("loud"); }), HasSubstr("got 'loud'"));
  EXPECT_THAT(refusal([] { noise_from("poisson:0"); }), HasSubstr("a positive number of photons"));
}

}  // namespace
}  // namespace spnn
