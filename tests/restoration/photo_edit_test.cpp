#include <gmock/gmock.h>
#include <numeric>
#include <spnn/restoration/photo_edit.h>
#include <spnn/restoration/previews.h>

#include "support/tensor_near.h"
#include "support/wished_photos.h"

namespace spnn {
namespace {

using testing::TensorNear;

class PhotoEdit : public testing::WishedPhotos {
 protected:
  SpunMove edited(const Tensor& x, const Tensor& place, const RedrawConfig& redraw, const ImageSeeds& seeds) {
    return edit_photo(prior, g, x, third_up, place, {.spin = {}, .carry = {}, .redraw = redraw}, {.steps = 50}, seeds, observer);
  }
  SpunMove moved() { return carried_move(prior, g, photo, third_up, {}, {}, ImageSeeds(7, 4), observer); }
  static Tensor left_half() {
    auto place = torch::zeros({1, 1, side, side}, torch::kFloat64);
    place.narrow(3, 0, side / 2).fill_(1);
    return place;
  }
};

TEST_F(PhotoEdit, MeetsTheWishWhateverThePlace) {
  for (const auto& place : {left_half(), torch::ones({1, 1, 8, 8}, torch::kFloat64), torch::zeros({1, 1, 8, 8}, torch::kFloat64), Tensor()}) {
    const auto x = edited(photo, place, {.time = 300}, ImageSeeds(7, 4)).x;
    EXPECT_GE(g.forward(x).select(1, 2).min().item<double>(), 1.49);
    EXPECT_LE(x.abs().max().item<double>(), 1);
  }
}

TEST_F(PhotoEdit, DrawsThePlaceAgainAndNothingElse) {
  const auto before = moved().x, after = edited(photo, left_half(), {.time = 300}, ImageSeeds(7, 4)).x;
  const auto apart = [](const Tensor& a, const Tensor& b, std::int64_t from) { return (a - b).narrow(3, from, 4).square().mean().sqrt().item<double>(); };
  EXPECT_GT(apart(after, photo, 0), 2 * apart(after, photo, 4)) << "the right half is the photo's, or as the move left it";
  EXPECT_LE(apart(after, photo, 4), 1.5 * apart(before, photo, 4));
  EXPECT_GT(apart(after, before, 0), 0.05) << "another left half";
}

TEST_F(PhotoEdit, OfNoPlaceOrNoNoiseIsTheMove) {
  const auto move = moved().x;
  EXPECT_TRUE(torch::equal(edited(photo, torch::zeros({1, 1, 8, 8}, torch::kFloat64), {}, ImageSeeds(7, 4)).x, move));
  EXPECT_TRUE(torch::equal(edited(photo, left_half(), {.noise = 0}, ImageSeeds(7, 4)).x, move));
}

TEST_F(PhotoEdit, LeavesAPhotoThatIsAsAskedToTheBit) {
  const auto there = edit_photo(prior, g, photo, [](const Tensor& y) { return y; }, left_half(), {}, {.steps = 50}, ImageSeeds(7, 4), observer);
  EXPECT_TRUE(torch::equal(there.x, photo));
}

// Images of different times are drawn apart, whatever else is in the batch.
TEST_F(PhotoEdit, AnImageDoesNotDependOnItsBatch) {
  auto some = photo.clone();
  some[0] *= 0.3;
  some[3] = -some[3];
  const RedrawConfig strong{.noise = 40};
  const auto all = edited(some, left_half(), strong, ImageSeeds(7, 4)).x;
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto one = edited(some.narrow(0, i, 1), left_half(), strong, ImageSeeds(7 + static_cast<std::uint64_t>(i), 1)).x;
    EXPECT_THAT(one, TensorNear(all.narrow(0, i, 1), 1e-9)) << i;
  }
}

TEST_F(PhotoEdit, TheStrongerAMoveTheMoreOfItIsForgotten) {
  std::vector<std::int64_t> times;
  for (const double by : {0.0, 0.1, 0.3, 0.6}) times.push_back(redraw_times(prior.schedule(), photo, photo + by, left_half(), {})[0].item<std::int64_t>());
  EXPECT_EQ(times.front(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(times));
  EXPECT_GT(times.back(), times[1]);
  for (const auto t : times) EXPECT_EQ(t % 100, 0);
  EXPECT_EQ(redraw_times(prior.schedule(), photo, photo + 0.1, left_half(), {.time = 450})[0].item<std::int64_t>(), 450);
}

TEST_F(PhotoEdit, ShowsThePhotosAsTheyForm) {
  struct Watch : Observer {
    bool wants_previews() const override { return true; }
    void preview(const Preview& p) override { seen.emplace_back(p.image, p.name); }
    std::vector<std::pair<std::int64_t, std::string>> seen;
  } watch;
  auto some = photo.clone();
  some[1] = moved().x[1];   // as asked already: it is not drawn
  SomeImages batch(watch, {10, 11, 12, 13}, {"a", "b", "c", "d"});
  edit_photo(prior, g, some, third_up, left_half(), {.spin = {}, .carry = {}, .redraw = {.time = 200}}, {.steps = 50}, ImageSeeds(7, 4), batch);
  EXPECT_THAT(watch.seen, ::testing::Contains(std::pair<std::int64_t, std::string>(12, "c")));
  EXPECT_THAT(watch.seen, ::testing::Not(::testing::Contains(std::pair<std::int64_t, std::string>(11, "b"))));
}

TEST_F(PhotoEdit, CountsStepsAndStopsWhenTheObserverCancels) {
  struct Count : Observer {
    void progress(std::int64_t n, std::int64_t of, const std::string&) override { each.push_back(n), total = of; }
    std::vector<std::int64_t> each;
    std::int64_t total = 0;
  } count;
  edit_photo(prior, g, photo, third_up, left_half(), {.spin = {}, .carry = {}, .redraw = {.time = 200}}, {.steps = 50}, ImageSeeds(7, 4), count);
  EXPECT_EQ(count.total, 20) << "two chains of ten steps";
  std::vector<std::int64_t> wanted(20);
  std::iota(wanted.begin(), wanted.end(), 1);
  EXPECT_EQ(count.each, wanted);
  struct Cancel : Observer {
    bool cancelled() const override { return true; }
  } cancel;
  EXPECT_THROW(edit_photo(prior, g, photo, third_up, left_half(), {}, {.steps = 50}, ImageSeeds(7, 4), cancel), Interrupted);
}

}  // namespace
}  // namespace spnn
