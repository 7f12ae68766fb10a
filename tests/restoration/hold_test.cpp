#include <gtest/gtest.h>
#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/restoration/hold.h>

using namespace spnn;

namespace {

// A change in the middle and nowhere else.
struct Pair {
  Tensor photo = Rng(1).uniform({2, 3, 32, 32}) - 0.5;
  Tensor moved = [this] {
    auto x = photo.clone();
    x.narrow(2, 12, 8).narrow(3, 12, 8).add_(0.5);
    return x;
  }();
};

}  // namespace

TEST(Hold, FindsTheChangedPlaces) {
  const Pair p;
  const auto mask = changed_places(p.photo, p.moved, 0.5);
  EXPECT_EQ(mask.sizes(), (torch::IntArrayRef{2, 1, 32, 32}));
  EXPECT_EQ(mask[0][0][16][16].item<float>(), 1);
  EXPECT_EQ(mask[0][0][2][2].item<float>(), 0);
  EXPECT_GT(mask.sum().item<double>(), changed_places(p.photo, p.moved, 1.0).sum().item<double>()) << "the more is kept, the less is free";
  EXPECT_EQ(changed_places(p.photo, p.moved, 0.0).min().item<float>(), 1);
  EXPECT_THROW(changed_places(p.photo, p.moved, 1.5), Error);
}

TEST(Hold, MixesThePhotoInBeforeTheCorrectionAndAfter) {
  const Pair p;
  const auto mask = changed_places(p.photo, p.moved, 0.5);
  const auto x0 = Rng(2).randn({2, 3, 32, 32});
  const SamplerStep step{.x0_hat = x0, .x_t = x0, .t = 5, .index = 0, .total = 1};
  const auto held = holding({}, p.photo, mask)(step);
  EXPECT_TRUE(torch::equal(held.select(2, 2), p.photo.select(2, 2)));
  EXPECT_TRUE(torch::allclose(held.narrow(2, 15, 2).narrow(3, 15, 2), x0.narrow(2, 15, 2).narrow(3, 15, 2)));
  const auto doubled = holding([](const SamplerStep& s) { return 2 * s.x0_hat; }, p.photo, mask)(step);
  EXPECT_TRUE(torch::allclose(doubled, torch::lerp(p.photo, 2 * held, mask.expand_as(held))));
}
