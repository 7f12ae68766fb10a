#include <gtest/gtest.h>
#include <spnn/engine/engine.h>
#include <spnn/core/config.h>
#include <spnn/core/rng.h>
#include <spnn/image/image.h>

#include "support/app_jobs.h"
#include "support/damage.h"

namespace spnn::engine {
namespace {

using ::testing::HasSubstr;
using testing::file_bytes;
using testing::refusal;

class FieldJobs : public testing::AppJobs {
 protected:
  RestoreRequest job(const std::string& spec, const std::string& output = "out") const {
    auto wish = small<RestoreRequest>(output, 4);
    wish.degradation = spec;
    return wish;
  }
  RestoreResult restored(const RestoreRequest& wish, Observer& watch) const { return open()->restore(wish, watch); }
};

TEST_F(FieldJobs, RestoreCleanImagesUnderTheirNamesWithMeasures) {
  auto j = job("sr4");
  image("in/a.png");
  image("in/bb.png");
  j.photos = photos(jobs.image_files({(folder / "in").string()}));
  j.sampling.batch = 1;
  const auto report = restored(j, observer);
  ASSERT_EQ(report.images.size(), 2U);
  EXPECT_TRUE(report.images[1].file.ends_with("out/bb.png"));
  EXPECT_EQ(report.method, "nlbp");
  EXPECT_EQ(report.evaluations, 4);
  EXPECT_TRUE(report.images[0].psnr && std::isfinite(*report.images[0].psnr) && *report.images[0].ssim < 1);
  EXPECT_LT(report.images[0].inconsistency_sampled, 1e-4);
  EXPECT_EQ(read_image(folder / "out/measured/a.png").size(1), 8);
  EXPECT_THAT(read_text(folder / "out/restored.csv"), HasSubstr("bb.png,1,"));
}

TEST_F(FieldJobs, AFileThatIsAlreadyDegradedIsTheMeasurement) {
  auto j = job("sr4");
  j.photos = photos({image("small.png", 8)});
  j.degraded = true;
  const auto report = restored(j, observer);
  EXPECT_FALSE(report.images[0].psnr);
  const auto large = to_unit(read_image(report.images[0].file)).unsqueeze(0);
  const auto small = to_unit(read_image(folder / "small.png")).unsqueeze(0);
  EXPECT_LT((torch::avg_pool2d(large, 4) - small).abs().mean().item<double>(), 0.2) << "but for the clamp to [0, 255]";
  j.photos = photos({image("middle.png", 16)});
  EXPECT_THAT(refusal([&] { restored(j, observer); }),
              HasSubstr("middle.png: expected 8 × 8 pixels, as 'sr4' leaves of 32 × 32, got 16 × 16 (sr2 or bicubic2 would fit)"));
  j.degradation = "cs:0.25";
  EXPECT_THAT(refusal([&] { restored(j, observer); }), HasSubstr("expected one whose measurement is a picture"));
}

TEST_F(FieldJobs, MasksMayDifferFromImageToImage) {
  auto j = job("mask");
  j.photos = photos({image("in/a.png"), image("in/bb.png")});
  std::filesystem::create_directories(folder / "masks");
  for (const auto& [name, left] : {std::pair{"a.png", 0}, {"bb.png", 16}}) {
    auto mask = torch::full({1, 32, 32}, 255, torch::kUInt8);
    mask.slice(2, left, left + 16).fill_(0);
    write_image(folder / "masks" / name, mask);
  }
  j.masks_folder = (folder / "masks").string();
  restored(j, observer);
  const auto kept = [&](const std::string& name, std::int64_t from) {
    const auto a = read_image(folder / "in" / name).slice(2, from, from + 16), b = read_image(folder / "out" / name).slice(2, from, from + 16);
    return (a.to(torch::kInt32) - b.to(torch::kInt32)).abs().max().item<int>();
  };
  EXPECT_LE(kept("a.png", 16), 1);
  EXPECT_LE(kept("bb.png", 0), 1);
  std::filesystem::remove(folder / "masks/bb.png");
  EXPECT_THAT(refusal([&] { restored(j, observer); }), HasSubstr("expected a mask for every image, such as bb.png"));
  write_image(folder / "masks/bb.png", torch::zeros({1, 16, 16}, torch::kUInt8));
  EXPECT_THAT(refusal([&] { restored(j, observer); }), HasSubstr("bb.png: expected a mask of 32 × 32 pixels, got 16 × 16"));
}

TEST_F(FieldJobs, TheSameSeedGivesTheSameFileInAnyBatch) {
  for (const auto* output : {"one", "two"}) {
    auto j = job("gauss:1", output);
    j.photos = photos({image("a.png"), image("bb.png")});
    j.noise = "0.05";
    j.seed = 5;
    j.sampling.batch = output == std::string("one") ? 1 : 2;
    EXPECT_EQ(restored(j, observer).method, "ddrm");
  }
  EXPECT_EQ(file_bytes(folder / "one/bb.png"), file_bytes(folder / "two/bb.png"));
}

TEST_F(FieldJobs, RefuseBadInputWithWhatWouldDo) {
  const auto refused = [&](auto change) {
    auto j = job("sr4", "nowhere");
    j.photos = photos({image("a.png")});
    change(j);
    return refusal([&] { restored(j, observer); });
  };
  EXPECT_THAT(refused([](auto& j) { j.noise = "-1"; }), HasSubstr("noise: expected a standard deviation from 0 to 1 in [0, 1] pixel units, got '-1'"));
  EXPECT_THAT(refused([](auto& j) { j.degradation = "gamma+sr4"; j.method = "ddrm"; }), HasSubstr("method ddrm: expected a linear operator, got 'gamma+sr4' (nlbp, nlbp+, dps, pigdm, "));
  EXPECT_THAT(refused([](auto& j) { j.degradation = "sr5"; }), HasSubstr("32"));
  EXPECT_THAT(refused([&](auto& j) { j.photos = photos({image("large.png", 50)}); }), HasSubstr("expected an image of 32 × 32, got 50 × 50 (without --no-fit"));
  EXPECT_THAT(refused([](auto& j) { j.method = "magic"; }), HasSubstr("method: expected one of nlbp"));
  EXPECT_THAT(refused([](auto& j) { j.degradation = "grey"; }), HasSubstr("expected an image of 3 channels"));
}

TEST_F(FieldJobs, AnInterruptKeepsWhatIsFinished) {
  struct StopAfterFirst : Observer {
    void progress(std::int64_t done, std::int64_t, const std::string&) override { stop = done > 4; }
    bool cancelled() const override { return stop; }
    bool stop = false;
  } stopping;
  auto j = job("sr4");
  j.photos = photos({image("a.png"), image("bb.png")});
  j.sampling.batch = 1;
  EXPECT_THAT(refusal([&] { restored(j, stopping); }), HasSubstr("interrupted: 1 of 2 images are in"));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/a.png"));
}

TEST_F(FieldJobs, ANetworkIsAnOperatorToo) {
  auto j = job("model:" + models->file("classifier"));
  j.photos = photos({image("a.png")});
  EXPECT_EQ(restored(j, observer).method, "nlbp");
}

TEST_F(FieldJobs, CompareWritesATableAReportAndAFigureForEveryCase) {
  for (const auto* name : {"in/a.png", "in/bb.png", "in/ccc.png"}) image(name);
  CompareJob j;
  j.models = models->choice();
  j.data = (folder / "in").string();
  j.images = 3;
  j.operators = {"sr4", "gamma+sr4@0.1"};
  j.noises = {"0"};
  j.methods = {"nlbp", "ddnm", "pinv"};
  j.sampling.steps = 3;
  j.sampling.batch = 2;
  j.output = (folder / "comparison").string();
  const auto json = Json::parse(jobs.compare(j, observer).json);
  ASSERT_EQ(json.at("rows").size(), 5U) << "ddnm does not take gamma+sr4";
  EXPECT_EQ(json.at("rows")[0].at("evaluations"), 3);
  EXPECT_NEAR(json.at("rows")[0].at("psnr").get<double>(), json.at("rows")[1].at("psnr").get<double>(), 1e-3) << "NLBP is DDNM here, but for a byte that rounding tips";
  EXPECT_EQ(json.at("rows")[4].at("evaluations"), 0);
  EXPECT_FALSE(json.at("rows")[0].contains("frechet_crops")) << "crops are for large images";
  for (const auto* file : {"comparison.csv", "report.html", "sr4_0.png", "gamma+sr4_0.1.png"}) EXPECT_TRUE(std::filesystem::exists(folder / "comparison" / file)) << file;
}

}  // namespace
}  // namespace spnn::engine
