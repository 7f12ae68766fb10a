#include <gtest/gtest.h>
#include <spnn/restoration/carried_move.h>

#include "support/damage.h"
#include "support/tensor_near.h"
#include "support/wished_photos.h"

namespace spnn {
namespace {

using testing::TensorNear;

class Carried : public testing::WishedPhotos {
 protected:
  SpunMove carried(const Tensor& x, const CarryConfig& how, const ImageSeeds& seeds) { return carried_move(prior, g, x, third_up, {}, how, seeds, observer); }
};

// x̂0 is linear in x_t where images are Gaussian: the prior's share of what it sees is left of a move, whatever the noise.
TEST_F(Carried, LeavesThePriorsShareOfAMove) {
  const auto moved = photo + 0.1 * Rng(3).randn(photo.sizes(), torch::kFloat64);
  for (const std::int64_t t : {60, 300}) {
    const double a = prior.schedule().alpha_bar(t), share = a * 0.25 * 0.25 / (a * 0.25 * 0.25 + 1 - a);
    for (const int draws : {1, 4}) {
      const CarriedMove carry(prior, photo, ImageSeeds(7, 4), {.time = t, .draws = draws});
      EXPECT_THAT(carry(moved), TensorNear(photo + share * (moved - photo), 1e-9)) << "t = " << t << ", draws: " << draws;
    }
  }
}

TEST_F(Carried, MovesUntilTheWishIsMet) {
  const auto moved = carried(photo, {}, ImageSeeds(7, 4));
  EXPECT_GE(g.forward(moved.x).select(1, 2).min().item<double>(), 1.49);
  EXPECT_LE(moved.x.abs().max().item<double>(), 1);
}

TEST_F(Carried, LeavesAPhotoThatIsAsAskedToTheBit) {
  const auto there = carried_move(prior, g, photo, [](const Tensor& y) { return y; }, {}, {}, ImageSeeds(7, 4), observer);
  EXPECT_TRUE(torch::equal(there.x, photo));
}

TEST_F(Carried, WithoutRoundsIsTheMeanOverViews) {
  EXPECT_TRUE(torch::equal(carried(photo, {.rounds = 0}, ImageSeeds(7, 4)).x, spun_move(g, photo, third_up, {}).x));
}

TEST_F(Carried, AnImageDoesNotDependOnItsBatch) {
  const auto all = carried(photo, {}, ImageSeeds(7, 4)).x, one = carried(photo.narrow(0, 2, 1), {}, ImageSeeds(9, 1)).x;
  EXPECT_THAT(one, TensorNear(all.narrow(0, 2, 1), 1e-9));
}

TEST_F(Carried, StopsWhenTheObserverCancels) {
  struct Cancel : Observer {
    bool cancelled() const override { return true; }
  } cancel;
  EXPECT_THROW(carried_move(prior, g, photo, third_up, {}, {}, ImageSeeds(7, 4), cancel), Interrupted);
}

TEST_F(Carried, RefusesATimeThatTheScheduleHasNot) {
  EXPECT_THAT(testing::refusal([&] { CarriedMove(prior, photo, ImageSeeds(7, 4), {.time = 1000}); }),
              ::testing::HasSubstr("a carried move: expected a time in [0, 1000) and one draw or more, got 1000 and 4"));
}

}  // namespace
}  // namespace spnn
