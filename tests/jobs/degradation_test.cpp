#include <gmock/gmock.h>
#include <spnn/engine/engine.h>
#include <spnn/core/config.h>
#include <spnn/degradations/black_box.h>

#include "support/app_jobs.h"
#include "support/damage.h"

namespace spnn::engine {
namespace {

using ::testing::HasSubstr;
using testing::file_bytes;
using testing::refusal;

class DegradationJobs : public testing::AppJobs {
 protected:
  DegradationJobs() {
    for (int i = 0; i < 20; ++i) image(fmt::format("in/{}.png", std::string(static_cast<std::size_t>(i + 1), 'a')));
    const Json training = {{"steps", 6}, {"batch", 8}, {"warmup", 1}, {"validate_every", 3}, {"checkpoint_every", 3}};
    const Json config = {{"image_size", 32}, {"channels", 1}, {"keep", "dct:luma=20"}, {"network", {{"hidden", 8}, {"kernel", 1}, {"r_hidden", 8}}},
                         {"train", training}, {"inverse", {{"train", training}}}};
    write_text_atomically(folder / "config.json", config.dump());
  }

  DegradationJob job(const std::string& run = "run") const {
    DegradationJob job;
    job.config = (folder / "config.json").string();
    job.data = (folder / "in").string();
    job.degradation = "jpeg:20";
    job.run = (folder / run).string();
    return job;
  }
};

TEST_F(DegradationJobs, AFittedNetworkStandsForTheBlackBox) {
  auto j = job();
  j.baseline = true;
  const auto report = jobs.train_degradation(j, observer);
  ASSERT_EQ(report.rows.size(), 3U) << "T, g and the plain CNN";
  EXPECT_EQ(report.outputs, 20 * 16);
  EXPECT_EQ(report.inputs, 32 * 32);
  EXPECT_GT(report.rows[1].parameters, 0);
  EXPECT_TRUE(std::isfinite(report.inverse_psnr) && std::isfinite(report.seen_psnr));
  EXPECT_EQ(Json::parse(read_text(folder / "run/report.json")).at("rows").size(), 3U);

  auto restore = small<RestoreRequest>("out", 3);
  restore.degradation = "model:" + report.model;
  restore.photos = photos({image("clean.png")});
  const auto session = open();
  const auto result = session->restore(restore, observer);
  const auto& clean = result.images.at(0);
  ASSERT_TRUE(clean.psnr && clean.truth);
  const auto D = make_black_box("jpeg:20", {1, 32, 32});
  const auto x = to_unit(read_image(folder / "clean.png")).unsqueeze(0);
  EXPECT_TRUE(torch::equal(read_image(folder / "out/measured/clean.png"), to_bytes(D(x))[0])) << "what was measured is D's, not g's";
  const auto x_hat = to_unit(read_image(clean.file)).unsqueeze(0);
  EXPECT_NEAR(*clean.truth, (D(x_hat) - D(x)).square().mean().sqrt().item<double>() / 2, 1e-6);

  // The degraded file itself, of the same seed: the same measurement, hence the same result.
  restore.photos = photos({(folder / "out/measured/clean.png").string()});
  restore.degraded = true;
  restore.files.folder = (folder / "again").string();
  const auto again = session->restore(restore, observer);
  const auto& degraded = again.images.at(0);
  EXPECT_FALSE(degraded.psnr);
  EXPECT_NEAR(*degraded.truth, *clean.truth, 1e-6);
  EXPECT_TRUE(torch::equal(read_image(degraded.file), read_image(clean.file)));
  restore.method = "dps";
  EXPECT_EQ(session->restore(restore, observer).method, "dps");
  EXPECT_EQ(session->loaded(), 2) << "the prior and the fitted network, each once";
}

TEST_F(DegradationJobs, CompareHoldsTheDegradedPictureAgainstTheMethods) {
  const auto report = jobs.train_degradation(job(), observer);
  CompareJob j;
  j.models = models->choice();
  j.data = (folder / "in").string();
  j.images = 2;
  j.operators = {"model:" + report.model + "@0", "sr4@0", "network:" + report.model + "@0"};
  j.methods = {"nlbp", "pinv"};
  j.sampling.steps = 2;
  j.output = (folder / "comparison").string();
  const auto rows = Json::parse(jobs.compare(j, observer).json).at("rows");
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_EQ(rows[0].at("method"), "degraded");
  EXPECT_TRUE(rows[1].contains("consistency_with_D"));
  EXPECT_FALSE(rows[3].contains("consistency_with_D")) << "sr4 is what it is";
  EXPECT_FALSE(rows[5].contains("consistency_with_D")) << "and so is a network that is taken for what happened";
  EXPECT_LT(rows[6].at("consistency_sampled"), 1e-4) << "g(g†(y)) = y";
}

TEST_F(DegradationJobs, PairsOfFilesFromAnyProgram) {
  const auto D = make_black_box("quantize:3", {1, 32, 32});
  std::filesystem::create_directories(folder / "after");
  for (const auto& entry : std::filesystem::directory_iterator(folder / "in")) {
    write_image(folder / "after" / entry.path().filename().string(), to_bytes(D(to_unit(read_image(entry.path())).unsqueeze(0)))[0]);
  }
  auto j = job();
  j.data = j.degradation = "";
  j.clean = (folder / "in").string();
  j.degraded = (folder / "after").string();
  const auto by_files = jobs.train_degradation(j, observer);
  EXPECT_EQ(by_files.degradation, "pairs");
  EXPECT_EQ(by_files.held_out, 2) << "every tenth of twenty";
  std::filesystem::remove(folder / "after/aaa.png");
  j.run = (folder / "other").string();
  EXPECT_THAT(refusal([&] { jobs.train_degradation(j, observer); }), HasSubstr("expected a degraded 'aaa' for every clean image, got none"));
  image("after/aaa.png", 16);
  EXPECT_THAT(refusal([&] { jobs.train_degradation(j, observer); }), HasSubstr("aaa.png: expected 32 × 32 pixels, got 16 × 16"));
}

TEST_F(DegradationJobs, AnInterruptedRunEndsWithTheBitsOfOneThatWasNot) {
  struct StopsAtFourth : Observer {
    bool cancelled() const override { return ++asked >= 4; }
    mutable int asked = 0;
  } stopping;
  jobs.train_degradation(job("whole"), observer);
  auto j = job("cut");
  EXPECT_THAT(refusal([&] { jobs.train_degradation(j, stopping); }), HasSubstr("--resume continues"));
  j.resume = true;
  jobs.train_degradation(j, observer);
  EXPECT_EQ(file_bytes(folder / "cut/degradation.safetensors"), file_bytes(folder / "whole/degradation.safetensors"));
}

TEST_F(DegradationJobs, RefuseBadInput) {
  const auto refused = [&](auto change) {
    auto j = job("nowhere");
    change(j);
    return refusal([&] { jobs.train_degradation(j, observer); });
  };
  EXPECT_THAT(refused([](auto& j) { j.degradation = ""; }), HasSubstr("expected --operator or --pairs, got neither"));
  EXPECT_THAT(refused([](auto& j) { j.data = ""; }), HasSubstr("expected --data"));
  EXPECT_THAT(refused([](auto& j) { j.degradation = "jpeg:200"; }), HasSubstr("expected quality from 1 to 100, got 200"));
  EXPECT_THAT(refused([](auto& j) { j.keep = "dct:luma=64"; }), HasSubstr("fewer than all 64, got 64"));
}

}  // namespace
}  // namespace spnn::engine
