#include <gtest/gtest.h>
#include <spnn/restoration/place.h>

#include "support/damage.h"

using namespace spnn;

namespace {

const Shape image{3, 32, 32};

// Attribute 0 lives in the upper left corner, attribute 1, weakly, in the lower right one.
Tensor two_corners() {
  auto effects = torch::zeros({2, 16, 16});
  effects[0].narrow(0, 0, 6).narrow(1, 0, 6).fill_(2);
  effects[1].narrow(0, 10, 6).narrow(1, 10, 6).fill_(0.1);
  return effects;
}

}  // namespace

TEST(Place, IsWhereTheAttributeLivesHoweverWeak) {
  for (const std::int64_t attribute : {0, 1}) {
    const auto place = place_of(two_corners(), std::array{attribute}, image);
    EXPECT_EQ(place.sizes(), (torch::IntArrayRef{1, 1, 32, 32}));
    EXPECT_EQ(place[0][0][attribute == 0 ? 4 : 27][attribute == 0 ? 4 : 27].item<float>(), 1);
    EXPECT_EQ(place[0][0][attribute == 0 ? 27 : 4][attribute == 0 ? 27 : 4].item<float>(), 0);
    EXPECT_GE(place.min().item<float>(), 0);
    EXPECT_LE(place.max().item<float>(), 1);
  }
}

TEST(Place, OfSeveralIsAllOfTheirs) {
  const auto both = place_of(two_corners(), std::array<std::int64_t, 2>{0, 1}, image);
  EXPECT_TRUE(torch::equal(both, torch::maximum(place_of(two_corners(), std::array<std::int64_t, 1>{0}, image), place_of(two_corners(), std::array<std::int64_t, 1>{1}, image))));
}

TEST(Place, RefusesAnAttributeThatIsNotThere) {
  EXPECT_THAT(spnn::testing::refusal([] { place_of(two_corners(), std::array<std::int64_t, 1>{2}, image); }),
              ::testing::HasSubstr("place_of: expected an attribute below 2, got 2"));
}
