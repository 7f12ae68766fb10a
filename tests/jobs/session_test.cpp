#include <gtest/gtest.h>
#include <spnn/engine/watch.h>

#include <algorithm>
#include <thread>

#include "support/app_jobs.h"
#include "support/damage.h"

namespace spnn::engine {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

class SessionTest : public testing::AppJobs {
 protected:
  static EditRequest smile(std::uint64_t seed = 0) {
    EditRequest wish{.attributes = {{"Cat"}}, .seed = seed};
    wish.sampling.steps = 6;
    return wish;
  }
  Photo face() const {
    const auto bytes = testing::file_text(image("me.png"));
    return {.encoded = {bytes.begin(), bytes.end()}, .name = "me"};
  }
};

TEST_F(SessionTest, LoadsItsModelsOnceForAnyNumberOfRequests) {
  const auto session = open();
  EXPECT_EQ(session->loaded(), 0);
  std::vector<double> waited;   // for the first step, from the second request on
  for (std::uint64_t i = 0; i < 20; ++i) {
    auto wish = smile(i);
    if (i % 2 == 1) wish.photos = {face()};
    const auto made = session->edit(wish, observer);
    ASSERT_EQ(made.images.size(), 1U);
    EXPECT_EQ(session->loaded(), 2) << "classifier and prior";
    if (i > 0) waited.push_back(made.timings.until_first_step);
  }
  std::ranges::sort(waited);
  EXPECT_LT(waited[waited.size() / 2], 0.05) << "the median: a busy machine may be late now and then";
  session->values({.photo = face(), .judge = true});
  session->values({.photo = face(), .judge = true});
  EXPECT_EQ(session->loaded(), 3);
}

TEST_F(SessionTest, AnswersInMemoryWhatTheFilesHold) {
  auto wish = smile();
  wish.photos = {face()};
  wish.ask_judge = true;
  const auto in_memory = open()->edit(wish, observer);
  wish.files.folder = (folder / "out").string();
  const auto in_files = open()->edit(wish, observer);
  const auto& image = in_memory.images.at(0);
  EXPECT_TRUE(image.file.empty());
  EXPECT_EQ(image.image.pixels, in_files.images.at(0).image.pixels);
  EXPECT_EQ(image.name, "me.png");
  EXPECT_EQ(image.outputs.size(), 10U);
  EXPECT_EQ(image.judge.size(), 10U);
  EXPECT_EQ(in_memory.controlled, (std::vector<std::int64_t>{2}));
  const auto bytes = testing::file_text(folder / "out/me.png");
  EXPECT_EQ(jobs.decode({bytes.begin(), bytes.end()}, "me.png").pixels, image.image.pixels);
  const auto said = open()->values({.photo = {.image = image.image}}).outputs;
  for (std::size_t i = 0; i < said.size(); ++i) EXPECT_NEAR(said[i], image.outputs[i], 1e-4) << "what g says of the file";
}

TEST_F(SessionTest, ReportsTheTargetThatItAimedAt) {
  auto wish = smile(3);
  wish.photos = {face()};
  wish.attributes = {{"Cat", true, "sparse"}};
  const auto made = open()->edit(wish, observer).images.at(0);
  double error = 0;
  for (std::size_t i = 0; i < made.outputs.size(); ++i) error += std::pow(made.outputs[i] - made.target[i], 2) / 10;
  EXPECT_NEAR(std::sqrt(error), made.consistency, 1e-4) << "consistency is the distance to the reported target";
  const double p = 1 / (1 + std::exp(-made.outputs[2])), wanted = 1 / (1 + std::exp(-made.target[2]));
  EXPECT_NEAR(made.mean_abs_dp, std::abs(p - wanted), 1e-5);
}

TEST_F(SessionTest, StopsWithinOneStep) {
  struct CancelAtThird : Observer {
    void progress(std::int64_t done, std::int64_t, const std::string&) override { steps = done; }
    bool cancelled() const override { return steps >= 3; }
    std::int64_t steps = 0;
  } watch;
  EXPECT_THAT(refusal([&] { open()->edit(smile(), watch); }), HasSubstr("interrupted: 0 of 1 images are in memory; not made: Cat.png"));
  EXPECT_EQ(watch.steps, 3);
  Watch from_outside;
  from_outside.on_progress = [&](std::int64_t done, std::int64_t, const std::string&) {
    if (done == 2) std::thread([&] { from_outside.cancel(); }).join();
  };
  EXPECT_THROW(open()->sample({.count = 2, .sampling = {.steps = 6, .batch = 1}}, from_outside), Interrupted);
  EXPECT_EQ(from_outside.done(), 2);
}

TEST_F(SessionTest, ShowsPreviewsInOrder) {
  Watch watch;
  std::vector<Preview> seen;
  watch.on_preview = [&](const Preview& preview) { seen.push_back(preview); };
  RestoreRequest wish{.photos = {face()}, .degradation = "sr4"};
  wish.sampling.steps = 5;
  for (const auto* method : {"nlbp", "ddrm", "dps"}) {
    seen.clear();
    wish.method = method;
    const auto done = open()->restore(wish, watch);
    ASSERT_EQ(seen.size(), 5U) << method;
    for (std::size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k].step, static_cast<std::int64_t>(k) + 1) << method;
    EXPECT_EQ(done.images.at(0).measured.width, 8);
  }
  seen.clear();
  open()->sample({.count = 3, .sampling = {.steps = 4, .batch = 2}}, watch);
  EXPECT_EQ(seen.size(), 12U);
  EXPECT_EQ(seen.back().image, 2);
}

TEST_F(SessionTest, TwoSessionsInTwoThreadsGiveTheBitsOfOne) {
  const auto alone = open()->edit(smile(5), observer).images.at(0).image.pixels;
  std::vector<std::uint8_t> made[4];
  const auto shared = open(), own = open();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Observer silent;
      made[i] = (i < 2 ? *shared : *own).edit(smile(5), silent).images.at(0).image.pixels;
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& pixels : made) EXPECT_EQ(pixels, alone);
}

TEST_F(SessionTest, AnEditByOnePassKeepsMostOfThePhoto) {
  auto wish = smile();
  wish.fast = true;
  EXPECT_THAT(refusal([&] { open()->edit(wish, observer); }), HasSubstr("edit --fast: expected a photo"));
  wish.photos = {face()};
  EXPECT_EQ(open()->edit(wish, observer).images.size(), 1U);
  wish.keep = 2;
  EXPECT_THAT(refusal([&] { open()->edit(wish, observer); }), HasSubstr("edit --keep: expected a number in [0, 1], got 2"));
}

TEST_F(SessionTest, ShowsWhatTheMapDoesWithAPhoto) {
  const auto session = open();
  const auto info = session->info();
  EXPECT_EQ(info.names.size(), 10U);
  EXPECT_EQ(info.width, 32);
  const auto photo = session->values({.photo = face()});
  const auto back = session->pinv({.target = {.values = photo.outputs}});
  EXPECT_LT(back.consistency, 1e-3);
  const auto parts = session->parts({.photo = face()});
  EXPECT_EQ(parts.photo.pixels, photo.photo.pixels);
  EXPECT_NE(parts.range.pixels, parts.photo.pixels);
  const auto half = session->project({.photo = face(), .target = {.set = {{"Cat", 3.0}}}, .lambda = 0.5});
  EXPECT_NEAR(half.target[2], 0.5 * photo.outputs[2] + 1.5, 1e-4);
  EXPECT_NEAR(half.after[2], half.target[2], 1e-3);
  const auto stay = session->project({.photo = face(), .target = {.set = {{"Cat", 3.0}}}, .lambda = 0});
  EXPECT_EQ(stay.image.pixels, parts.photo.pixels);
  const auto ranges = session->attributes();
  ASSERT_EQ(ranges.size(), 10U);
  for (const auto& range : ranges) {
    EXPECT_LT(range.low, range.high);
    EXPECT_LT(range.without, range.with) << range.name;
  }
  EXPECT_EQ(session->measure({.photo = face(), .degradation = "sr4"}).width, 8);
  EXPECT_TRUE(session->verify({}, observer).passed);
  EXPECT_EQ(session->loaded(), 2) << "classifier and, for the measurement, the prior's size";
}

TEST_F(SessionTest, ReadsPixelsAsItReadsFiles) {
  const auto file = image("me.png", 50);
  const auto bytes = testing::file_text(file);
  const auto pixels = jobs.decode({bytes.begin(), bytes.end()}, "me.png");
  EXPECT_EQ(pixels.width, 50);
  EXPECT_EQ(jobs.fit({.image = pixels}, 32, 32).pixels, jobs.fit({.file = file}, 32, 32).pixels);
  const auto corner = jobs.fit({.image = pixels, .box = CropBox{0, 0, 32, 32}}, 32, 32);
  EXPECT_EQ(corner.pixels[0], pixels.pixels[0]) << "cut, not resized";
  EXPECT_THAT(refusal([&] { jobs.fit({.image = pixels, .box = CropBox{40, 0, 60, 20}}, 32, 32); }), HasSubstr("a crop inside 50 × 50 pixels"));
  EXPECT_THAT(refusal([&] { jobs.encode({.width = 4, .height = 4, .channels = 3, .pixels = {1, 2}}, "png", 95); }), HasSubstr("2 bytes for 4 × 4 × 3"));
}

// A model of classes, one of which has a slash in its name.
TEST_F(SessionTest, EditsOfClassesAreGradedByTheLargestOutputAndHaveFileNames) {
  auto content = read_safetensors(models->file("classifier"));
  auto names = models->names();
  names[2] = "T-shirt/top";
  content.metadata["task"] = "classes";
  content.metadata["attributes"] = Json(names).dump();
  auto choice = models->choice();
  choice.classifier = (folder / "classes.safetensors").string();
  write_safetensors(choice.classifier, content);
  EditRequest wish{.attributes = {{"T-shirt/top", true, "sparse"}}, .samples = 4, .files = {.folder = (folder / "out").string()}};
  wish.sampling.steps = 6;
  wish.margin = 0;
  wish.strength = 0.1;   // too little to be the largest
  const auto made = open(choice)->edit(wish, observer);
  EXPECT_TRUE(std::filesystem::exists(folder / "out/T-shirt-top-1.png"));
  for (const auto& image : made.images) {
    const bool largest = std::ranges::max_element(image.outputs) - image.outputs.begin() == 2;
    EXPECT_EQ(image.agreement, largest ? 1 : 0);
    EXPECT_GT(image.mean_abs_dp, 0);
  }
}

TEST_F(SessionTest, PoissonNoiseOfAnImageDoesNotDependOnItsBatch) {
  RestoreRequest wish{.photos = {{.file = image("dark.png")}, face()}, .degradation = "gauss:1", .noise = "poisson:50"};
  write_image(wish.photos[0].file, torch::full({1, 32, 32}, 20, torch::kUInt8));
  wish.sampling = {.steps = 5, .batch = 2};
  const auto together = open()->restore(wish, observer);
  wish.sampling.batch = 1;
  const auto apart = open()->restore(wish, observer);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(together.images[i].image.pixels, apart.images[i].image.pixels) << i;
}

}  // namespace
}  // namespace spnn::engine
