#include <gtest/gtest.h>
#include <spnn/engine/engine.h>
#include <spnn/core/rng.h>
#include <spnn/evaluation/agreement.h>
#include <spnn/image/image.h>

#include "support/app_jobs.h"
#include "support/damage.h"
#include "support/tensor_near.h"

namespace spnn::engine {
namespace {

using ::testing::HasSubstr;
using testing::file_bytes;
using testing::refusal;

class RestorationJobs : public testing::AppJobs {
 protected:
  ReconstructRequest reconstruction(const std::string& output) const { return small<ReconstructRequest>(output); }
  EditRequest editing(const std::string& output) const { return small<EditRequest>(output); }
  MadeImages reconstruct(const ReconstructRequest& wish, Observer& watch) const { return open()->reconstruct(wish, watch); }
  MadeImages edit(const EditRequest& wish, Observer& watch) const { return open()->edit(wish, watch); }
};

TEST_F(RestorationJobs, ReportWhatTheSavedFileSays) {
  auto job = reconstruction("out");
  job.images = photos({image("a.png"), image("bb.png")});
  job.samples = 2;
  const auto report = reconstruct(job, observer);
  ASSERT_EQ(report.images.size(), 4U);
  EXPECT_TRUE(report.images[3].file.ends_with("bb-2.png"));
  for (const auto& saved : report.images) {
    const auto y = models->net()->forward(to_unit(read_image(saved.file)).unsqueeze(0));
    const auto source = to_unit(read_image(folder / (saved.source + ".png"))).unsqueeze(0);
    const auto agreement = agreement_of(Task::attributes, y, models->net()->forward(source));
    EXPECT_NEAR(agreement.mean, saved.agreement, 1e-9);
    EXPECT_NEAR(agreement.mean_abs_dp, saved.mean_abs_dp, 1e-5);
  }
}

TEST_F(RestorationJobs, TheSameSeedGivesTheSameFile) {
  for (const auto* output : {"one", "two"}) {
    auto job = reconstruction(output);
    job.images = photos({image("a.png")});
    job.seed = 5;
    reconstruct(job, observer);
  }
  EXPECT_EQ(file_bytes(folder / "one/a.png"), file_bytes(folder / "two/a.png"));
}

TEST_F(RestorationJobs, AttributesAndLogitsAreTargetsToo) {
  auto by_attributes = reconstruction("attributes");
  by_attributes.attributes = {{"Cat"}, {"Dog", false}};
  EXPECT_EQ(reconstruct(by_attributes, observer).images.size(), 1U);
  auto by_logits = reconstruction("logits");
  by_logits.logits_file = (folder / "y.csv").string();
  testing::write_file(by_logits.logits_file, "1,2,3,4,5,6,7,8,9,10\n0,0,0,0,0,0,0,0,0,0\n");
  EXPECT_EQ(reconstruct(by_logits, observer).images.size(), 2U);
  testing::write_file(by_logits.logits_file, "1,2,3\n");
  EXPECT_THAT(refusal([&] { reconstruct(by_logits, observer); }), HasSubstr("y.csv:1: expected 10 numbers, got 3"));
}

TEST_F(RestorationJobs, EditsFromNoiseAndFromAPhoto) {
  auto job = editing("noise");
  job.attributes = {{"Cat"}};
  job.samples = 2;
  EXPECT_EQ(edit(job, observer).images.size(), 2U);
  EXPECT_TRUE(std::filesystem::exists(folder / "noise/Cat-2.png"));
  job = editing("photo");
  job.attributes = {{"Cat"}, {"Elk", false}};
  job.photos = photos({image("me.png", 50)});
  EXPECT_THAT(refusal([&] { edit(job, observer); }), HasSubstr("expected an image of 32 × 32, got 50 × 50 (without --no-fit"));
  job.fit = true;
  EXPECT_EQ(edit(job, observer).images.size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(folder / "photo/me.png"));
}

// The classifier with these words in its file.
class GuidanceWindowJobs : public RestorationJobs {
 protected:
  std::string classifier_saying(const std::string& guidance) const {
    auto content = read_safetensors(models->file("classifier"));
    content.metadata["guidance"] = guidance;
    const auto file = (folder / "saying.safetensors").string();
    write_safetensors(file, content);
    return file;
  }
  auto reconstructed(const std::string& classifier, std::optional<std::int64_t> window) const {
    auto job = reconstruction("out");
    auto choice = models->choice();
    choice.classifier = classifier;
    job.images = photos({image("a.png")});
    job.guidance.window_from = window;
    Observer silent;
    return file_bytes(open(choice)->reconstruct(job, silent).images.at(0).file);
  }
  auto edited(const std::string& classifier, std::optional<std::int64_t> window) const {
    auto job = editing("out");
    auto choice = models->choice();
    choice.classifier = classifier;
    job.attributes = {{"Cat"}};   // from noise: a photo has a window of its own
    job.guidance.window_from = window;
    Observer silent;
    return file_bytes(open(choice)->edit(job, silent).images.at(0).file);
  }
};

TEST_F(GuidanceWindowJobs, BeginWhereTheClassifiersFileSays) {
  const auto silent = models->file("classifier"), saying = classifier_saying(R"({"reconstruct_window": 250, "edit_window": 900})");
  EXPECT_EQ(reconstructed(silent, {}), reconstructed(silent, 1000)) << "the built-in window";
  EXPECT_EQ(reconstructed(saying, {}), reconstructed(silent, 250)) << "the file's";
  EXPECT_EQ(reconstructed(saying, 1000), reconstructed(silent, 1000)) << "the option's";
  EXPECT_NE(reconstructed(silent, 250), reconstructed(silent, 1000)) << "or none of this was tested";
  EXPECT_EQ(edited(silent, {}), edited(silent, 500));
  EXPECT_EQ(edited(saying, {}), edited(silent, 900));
  EXPECT_EQ(edited(saying, 500), edited(silent, 500));
  EXPECT_NE(edited(silent, 500), edited(silent, 900));
  EXPECT_EQ(edited(classifier_saying(R"({"reconstruct_window": 900})"), {}), edited(silent, 500)) << "a file that says half";
}

TEST_F(GuidanceWindowJobs, RefuseAFileThatSaysNonsense) {
  const auto refused = [&](const std::string& guidance) { return refusal([&] { reconstructed(classifier_saying(guidance), {}); }); };
  EXPECT_THAT(refused(R"({"reconstruct_window": 1001})"), HasSubstr("saying.safetensors: guidance.reconstruct_window: expected a time from 1 to 1000, got 1001"));
  EXPECT_THAT(refused(R"({"edit_window": "late"})"), HasSubstr("guidance.edit_window: expected a value of the right type"));
  EXPECT_THAT(refused(R"({"window": 5})"), HasSubstr("expected one of edit_window, reconstruct_window, got 'window'"));
  EXPECT_THAT(refused("from the start"), HasSubstr("saying.safetensors: guidance: expected JSON"));
}

TEST_F(GuidanceWindowJobs, ExperimentsUseAndReportTheSameWindow) {
  for (int i = 1; i <= 30; ++i) image(fmt::format("set/{}.png", std::string(static_cast<std::size_t>(i), 'a')));
  ReconstructionExperiment job;
  job.models = models->choice();
  job.data = (folder / "set").string();
  job.images = 2;
  job.sampling.steps = 4;
  const auto window = [&] { return Json::parse(jobs.evaluate_reconstruction(job, observer).json).at("guidance").at("window_from"); };
  EXPECT_EQ(window(), 1000);
  job.models.classifier = classifier_saying(R"({"reconstruct_window": 250})");
  EXPECT_EQ(window(), 250);
}

TEST_F(RestorationJobs, PreviewsShowEveryImageAtEveryStep) {
  auto job = reconstruction("out");
  job.images = photos({image("a.png"), image("bb.png")});
  int seen = 0;
  Watch watch;
  watch.on_preview = [&](const Preview& preview) {
    EXPECT_EQ(preview.pixels.size(), 32U * 32U);
    EXPECT_EQ(preview.image, seen % 2);
    EXPECT_EQ(preview.name, seen % 2 == 0 ? "a.png" : "bb.png");
    EXPECT_EQ(preview.step, seen / 2 + 1);
    EXPECT_EQ(preview.steps, 6);
    ++seen;
  };
  reconstruct(job, watch);
  EXPECT_EQ(seen, 12);
}

TEST_F(RestorationJobs, AnInterruptKeepsWhatIsFinishedAndNamesTheRest) {
  struct StopAfterFirstBatch : Observer {
    void progress(std::int64_t done, std::int64_t, const std::string&) override { stop = done > 6; }
    bool cancelled() const override { return stop; }
    bool stop = false;
  } stopping;
  auto job = reconstruction("out");
  job.images = photos({image("a.png"), image("bb.png"), image("ccc.png")});
  job.sampling.batch = 1;
  try {
    reconstruct(job, stopping);
    FAIL() << "was not interrupted";
  } catch (const Interrupted& error) {
    EXPECT_THAT(error.what(), HasSubstr("1 of 3 images"));
    EXPECT_THAT(error.what(), HasSubstr("not made: bb.png, ccc.png"));
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "out/a.png"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out/bb.png"));
}

TEST_F(RestorationJobs, RefuseBadInputClearly) {
  auto unknown = editing("out");
  unknown.attributes = {{"Kat"}};
  EXPECT_THAT(refusal([&] { edit(unknown, observer); }), HasSubstr("got 'Kat' (did you mean Cat"));
  auto mismatch = reconstruction("out");
  mismatch.images = photos({image("a.png")});
  auto large = models->choice();
  large.prior = models->file("large-prior");
  EXPECT_THAT(refusal([&] { open(large)->reconstruct(mismatch, observer); }), HasSubstr("expected a prior of 1×32×32 images"));
  auto nothing = reconstruction("out");
  EXPECT_THAT(refusal([&] { reconstruct(nothing, observer); }), HasSubstr("either images, attributes or a file of logits"));
  auto unwritable = reconstruction("a.png/out");
  unwritable.images = photos({image("a.png")});
  EXPECT_THAT(refusal([&] { reconstruct(unwritable, observer); }), HasSubstr("a folder that can be written"));
  auto no_model = reconstruction("out");
  no_model.images = photos({image("a.png")});
  EXPECT_THAT(refusal([&] { open({.family = "nowhere"})->reconstruct(no_model, observer); }), HasSubstr("nowhere-prior.safetensors: expected a shipped model"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

}  // namespace
}  // namespace spnn::engine
