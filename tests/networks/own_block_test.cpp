#include <gmock/gmock.h>
#include <spnn/blocks/pixel_unshuffle.h>
#include <spnn/blocks/subnet.h>
#include <spnn/networks/spnn.h>
#include <spnn/projection/spnn_projector.h>

#include "support/damage.h"
#include "support/laws.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::refusal;
using testing::TensorNear;

// r(y) = y / 2, without weights.
class Halving final : public Subnet {
 public:
  Tensor forward(const Tensor& u) const override { return 0.5 * u; }
  torch::nn::Module& last_layer() override { return *this; }
};

// A block that is none of ours: the first half of the channels plus the sine of the second is kept, the second discarded.
class SineSurjection final : public Surjection {
 public:
  explicit SineSurjection(const Shape& in) : Surjection(in, {in.channels / 2, in.height, in.width}), r_(std::make_shared<Halving>()) {}
  Completion complete(const Tensor& x) const override {
    const auto halves = x.chunk(2, 1);
    return {halves[0] + torch::sin(halves[1]), {halves[1]}};
  }
  Tensor invert(const Completion& yz) const override { return torch::cat({yz.y - torch::sin(yz.z.at(0)), yz.z.at(0)}, 1); }
  Tensor pinv(const Tensor& y) const override { return invert({y, {r(y)}}); }
  const std::shared_ptr<Subnet>& r_net() const override { return r_; }
  Tensor r(const Tensor& y) const override { return r_->forward(y); }
  Shape z_shape() const override { return out_shape(); }

 private:
  std::shared_ptr<Subnet> r_;
};

// Drops half of the channels without being a level of the network, and says so, or does not.
class Dropping final : public Block {
 public:
  Dropping(const Shape& in, bool says_so) : Block(in, {in.channels / 2, in.height, in.width}), says_so_(says_so) {}
  Completion complete(const Tensor& x) const override {
    const auto halves = x.chunk(2, 1);
    return {halves[0], {halves[1]}};
  }
  Tensor invert(const Completion& yz) const override { return torch::cat({yz.y, yz.z.at(0)}, 1); }
  Tensor pinv(const Tensor& y) const override { return torch::cat({y, torch::zeros_like(y)}, 1); }
  bool discards() const override { return says_so_; }

 private:
  bool says_so_;
};

std::shared_ptr<Spnn> own_network() {
  const Shape in{2, 4, 4}, folded{8, 2, 2}, half{4, 2, 2};
  return std::make_shared<Spnn>(std::vector<std::shared_ptr<Block>>{
      std::make_shared<PixelUnshuffle>(PixelUnshuffleConfig{in, 2, 2}), std::make_shared<SineSurjection>(folded),
      std::make_shared<PixelUnshuffle>(PixelUnshuffleConfig{half, 2, 2}), std::make_shared<SineSurjection>(Shape{16, 1, 1})});
}

TEST(OwnBlock, ThatDiscardsIsALevelAndObeysTheLaws) {
  const auto net = own_network();
  EXPECT_EQ(net->level_count(), 2U);
  EXPECT_EQ(net->out_shape(), (Shape{8, 1, 1}));
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const auto x = Rng(1).randn({3, 2, 4, 4}, type), y = Rng(2).randn({3, 8}, type);
    testing::expect_laws(*net, x, y, testing::tolerance_of(type));
    EXPECT_EQ(net->complete(x).z.size(), 2U);
    EXPECT_THAT(net->complete(net->pinv(y)).z[1].flatten(1), TensorNear(0.5 * y, testing::tolerance_of(type))) << "z of the last level is its own r(y)";
  }
}

TEST(OwnBlock, IsBackProjectedThrough) {
  const auto x = Rng(1).randn({3, 2, 4, 4}, torch::kFloat64), y = Rng(2).randn({3, 8}, torch::kFloat64);
  for (const auto metric : {Metric::plain, Metric::residual}) {
    const SpnnProjector g(own_network(), {.pseudo_inverse = PseudoInverse::learned, .metric = metric});
    EXPECT_THAT(g.forward(g.nlbp(x, y)), TensorNear(y, 1e-9));
  }
}

TEST(OwnBlock, ThatWouldShiftTheLevelsIsRefused) {
  const Shape in{4, 2, 2};
  const auto made = [&](bool says_so) { return Spnn(std::vector<std::shared_ptr<Block>>{std::make_shared<Dropping>(in, says_so), std::make_shared<SineSurjection>(Shape{2, 2, 2})}); };
  EXPECT_THAT(refusal([&] { made(true); }), HasSubstr("block 0: expected a Surjection where something is discarded"));
  EXPECT_THAT(refusal([&] { made(false).complete(torch::zeros({1, 4, 2, 2})); }), HasSubstr("expected one discarded part of a Surjection and none of other blocks, got 1"));
  EXPECT_THAT(refusal([&] { Spnn(std::vector<std::shared_ptr<Block>>{std::make_shared<SineSurjection>(in), std::make_shared<SineSurjection>(in)}); }),
              HasSubstr("block 1: expected an input of 2×2×2, got 4×2×2"));
  EXPECT_THAT(refusal([&] { own_network()->add_r_set("min_norm", Rng(1)); }), HasSubstr("a network with a configuration"));
}

}  // namespace
}  // namespace spnn
