#include <gmock/gmock.h>
#include <spnn/core/observer.h>
#include <spnn/engine/engine.h>
#include <spnn/jobs/pictures.h>
#include <spnn/jobs/session.h>
#include <spnn/networks/upscaler.h>

#include "support/damage.h"
#include "support/tensor_near.h"
#include "support/tiny_models.h"

namespace spnn::engine {
namespace {

using ::testing::HasSubstr;
using testing::refusal;
using testing::TensorNear;

// A classifier, a prior and a second stage of colour images, 8 and 32 pixels, with random weights.
class LargeTest : public ::testing::Test {
 protected:
  LargeTest() {
    net_ = std::make_shared<Spnn>(spnn_from_json(Json::parse(R"({"name": "colour", "input": [3, 8, 8], "blocks": [
      {"kind": "unshuffle", "factor": 2}, {"kind": "surjection", "out": 6, "s": {"hidden": 8}, "t": {"hidden": 8}, "r": {"hidden": 8}},
      {"kind": "unshuffle", "factor": 4},
      {"kind": "surjection", "out": 3, "s": {"hidden": 8, "kernel": 1}, "t": {"hidden": 8, "kernel": 1}, "r": {"hidden": 8, "kernel": 1}}]})")));
    randomise_spnn(*net_, Rng(1));
    const std::vector<std::string> names = {"Ant", "Bee", "Cat"};
    auto tensors = state_of(*net_);
    tensors["statistics.mean"] = torch::zeros({3}, torch::kFloat64);
    tensors["statistics.covariance"] = torch::eye(3, torch::kFloat64);
    write_safetensors(file("classifier"), {tensors, {{"kind", "spnn"}, {"architecture", to_json(net_->config()).dump()},
                                                     {"attributes", Json(names).dump()}, {"task", "attributes"}}});
    UNet prior({.image_size = 8, .ch = 8, .ch_mult = {1, 2}, .num_res_blocks = 1, .attn_resolutions = {}, .norm_groups = 4});
    initialise(prior, Rng(3));
    write_safetensors(file("prior"), {state_of(prior), {{"kind", "ddpm-unet"}, {"architecture", Json(prior.config()).dump()}, {"parameterization", "v"}}});
    Upscaler second({.image_size = 32, .factor = 4, .unet = {.image_size = 4, .ch = 8, .ch_mult = {1, 2}, .num_res_blocks = 1, .attn_resolutions = {}, .norm_groups = 4}});
    initialise(second.unet(), Rng(4));
    second.measure_scale(0.05 * Rng(5).randn({4, 3, 32, 32}));
    write_safetensors(file("upscaler"), {state_of(second), {{"kind", "upscaler"}, {"architecture", Json(second.config()).dump()}}});
  }

  std::string file(const std::string& role) const { return (folder_ / (role + ".safetensors")).string(); }
  std::unique_ptr<Session> open(std::int64_t size) const {
    return open_session({.models = {.family = "colour", .classifier = file("classifier"), .prior = file("prior"), .size = size, .upscaler = file("upscaler")}});
  }
  Tensor small(const Image& image) const { return torch::avg_pool2d(to_unit(to_tensor(image, "test")).unsqueeze(0), 4); }
  Photo photo() const { return {.image = to_image((Rng(8).uniform({3, 32, 32}) * 200 + 20).to(torch::kUInt8)), .name = "me"}; }

  testing::TemporaryFolder folder_;
  std::shared_ptr<Spnn> net_;
  Observer observer_;
};

TEST_F(LargeTest, SamplesHaveTheSmallImageOfTheFirstStage) {
  SampleRequest wish{.count = 3, .sampling = {.steps = 4, .batch = 2, .detail_steps = 3}};
  const auto large = open(32)->sample(wish, observer_), own = open(0)->sample(wish, observer_);
  ASSERT_EQ(large.images.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(large.images[i].width, 32);
    // Clamping and rounding are all that stands between the two.
    const auto difference = (small(large.images[i]) - to_unit(to_tensor(own.images[i], "test"))).abs();
    EXPECT_LT(difference.median().item<double>(), 0.02);
  }
  wish.count = 1;
  wish.seed = 2;
  EXPECT_EQ(open(32)->sample(wish, observer_).images[0].pixels, large.images[2].pixels) << "an image does not depend on its batch";
}

TEST_F(LargeTest, MeasuresWhatTheSavedFileSays) {
  ReconstructRequest wish{.images = {photo()}, .fit = false, .samples = 2, .sampling = {.steps = 4, .detail_steps = 3}};
  const auto made = open(32)->reconstruct(wish, observer_);
  ASSERT_EQ(made.images.size(), 2U);
  const torch::NoGradGuard no_grad;
  const auto target = net_->forward(small(photo().image));
  for (const auto& image : made.images) {
    EXPECT_EQ(image.image.height, 32);
    const auto y = net_->forward(small(image.image));
    for (std::int64_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(y[0][k].item<double>(), image.outputs[static_cast<std::size_t>(k)], 1e-4);
      EXPECT_NEAR(target[0][k].item<double>(), image.target[static_cast<std::size_t>(k)], 1e-4);
    }
    EXPECT_LT(image.consistency, 0.05);   // g(A x) = y on the bytes
  }
}

TEST_F(LargeTest, AnEditMovesThePhotosOwnDetailAlong) {
  EditRequest wish{.photos = {photo()}, .attributes = {{"Cat", true, "sparse"}}, .fit = false, .fast = true};
  const auto kept = open(32)->edit(wish, observer_).images.at(0);
  EXPECT_EQ(kept.image.width, 32);
  EXPECT_EQ(kept.agreement, 1);
  wish.invent = true;
  wish.sampling.detail_steps = 3;
  const auto invented = open(32)->edit(wish, observer_).images.at(0);
  EXPECT_EQ(invented.agreement, 1);
  EXPECT_NE(invented.image.pixels, kept.image.pixels);
}

TEST_F(LargeTest, RestoresThroughBothStagesAsOnePrior) {
  RestoreRequest wish{.photos = {photo()}, .degradation = "sr8", .method = "nlbp", .fit = false, .sampling = {.steps = 5}};
  const auto restored = open(32)->restore(wish, observer_).images.at(0);
  EXPECT_EQ(restored.image.width, 32);
  EXPECT_EQ(restored.measured.width, 4);
  EXPECT_LT(restored.inconsistency, 0.01);
}

TEST_F(LargeTest, ComparesMethodsOnLargeImages) {
  std::filesystem::create_directories(folder_ / "in");
  for (const auto* name : {"a.png", "b.png", "c.png"}) write_image(folder_ / "in" / name, to_tensor(photo().image, "test"));
  Judge judge({.image_size = 8, .in_channels = 3, .widths = {8, 8}, .blocks = {1, 1}, .squeeze = 4, .features = 12, .outputs = 3, .norm_groups = 4});
  initialise(judge, Rng(6));
  write_safetensors(file("judge"), {state_of(judge), {{"kind", "judge"}, {"architecture", Json(judge.config()).dump()}, {"attributes", R"(["Ant", "Bee", "Cat"])"}, {"task", "attributes"}}});
  CompareJob job;
  job.models = {.family = "colour", .prior = file("prior"), .judge = file("judge"), .size = 32, .upscaler = file("upscaler")};
  job.data = (folder_ / "in").string();
  job.images = 3;
  job.operators = {"sr8"};
  job.noises = {"0"};
  job.methods = {"nlbp", "pinv"};
  job.sampling.steps = 3;
  job.output.clear();
  const auto rows = Json::parse(Engine().compare(job, observer_).json).at("rows");
  ASSERT_EQ(rows.size(), 2U);
  for (const auto& row : rows) {
    EXPECT_LT(row.at("consistency_sampled").get<double>(), 1e-3) << "of 32 pixels, through both stages";
    EXPECT_GE(row.at("frechet_crops").get<double>(), 0);
  }
}

TEST_F(LargeTest, IsVerifiedAndRefusesOtherSizes) {
  const auto report = open_session({.models = {.classifier = file("classifier"), .size = 32}, .in_double = true})->verify({}, observer_);
  EXPECT_TRUE(report.passed);
  EXPECT_THAT(report.network, HasSubstr("behind 4×4 average pooling"));
  EXPECT_THAT(refusal([&] { open(64)->sample({}, observer_); }), HasSubstr("--size: expected 8, or 32 with this second stage, got 64"));
}

}  // namespace
}  // namespace spnn::engine
