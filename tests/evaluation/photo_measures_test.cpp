#include <gtest/gtest.h>
#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/evaluation/photo_measures.h>

#include <cmath>

using namespace spnn;

namespace {

PhotoEdits four_edits() {
  PhotoEdits e;
  e.photos = (Rng(1).uniform({4, 3, 32, 32}) * 200 + 20).to(torch::kUInt8);
  e.edited = e.photos + 10;
  e.wanted = torch::tensor({1.0, 1.0, 0.0, 0.0});
  e.attribute = 0;
  e.y_edited = torch::tensor({{1.0, 1.0}, {1.0, 1.0}, {-1.0, 1.0}, {-1.0, 1.0}});
  e.judge_photos = torch::tensor({{-1.0, 1.0}, {-1.0, 1.0}, {1.0, 1.0}, {1.0, 1.0}});
  e.judge_edited = torch::tensor({{1.0, 1.0}, {-1.0, -1.0}, {-1.0, 1.0}, {-1.0, 1.0}});
  e.features_photos = torch::ones({4, 8});
  e.features_edited = 1.5 * torch::ones({4, 8});
  e.seconds = 2;
  return e;
}

}  // namespace

TEST(PhotoMeasures, AreWhatTheySay) {
  const auto m = measure_photo_edits(four_edits());
  EXPECT_EQ(m.images, 4);
  EXPECT_DOUBLE_EQ(m.by_g, 1);
  EXPECT_DOUBLE_EQ(m.by_judge, 0.75);
  EXPECT_DOUBLE_EQ(m.judge_before, 0);
  EXPECT_DOUBLE_EQ(m.others_changed, 0.25);
  EXPECT_NEAR(m.rms, 10 / 127.5, 1e-4);
  EXPECT_NEAR(m.feature_distance, 0.5, 1e-6);
  EXPECT_TRUE(std::isnan(m.identity));
  EXPECT_DOUBLE_EQ(m.seconds_per_image, 0.5);
  EXPECT_TRUE(to_json(m)["identity"].is_null());
}

TEST(PhotoMeasures, MenAndWomenAreNotAveragedAway) {
  auto e = four_edits();
  EXPECT_TRUE(std::isnan(measure_photo_edits(e).of_men));
  e.men = torch::tensor({0.0, 1.0, 1.0, 0.0});
  EXPECT_DOUBLE_EQ(measure_photo_edits(e).of_men, 0.5);
  EXPECT_DOUBLE_EQ(measure_photo_edits(e).of_women, 1);
  e.men = torch::ones({4});
  EXPECT_TRUE(std::isnan(measure_photo_edits(e).of_women));
}

TEST(PhotoMeasures, IdentityIsTheCosine) {
  auto e = four_edits();
  e.identity_photos = torch::eye(4);
  e.identity_edited = torch::eye(4) * 0.6 + torch::eye(4).roll(1, 0) * 0.8;
  EXPECT_NEAR(measure_photo_edits(e).identity, 0.6, 1e-6);
}

TEST(PhotoMeasures, MeansAreOverAttributes) {
  auto one = measure_photo_edits(four_edits()), two = one;
  two.by_judge = 0.25;
  EXPECT_DOUBLE_EQ(mean_of({one, two}).by_judge, 0.5);
  EXPECT_EQ(mean_of({one, two}).images, 8);
  EXPECT_THROW(mean_of({}), Error);
}
