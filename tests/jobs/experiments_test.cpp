#include <gtest/gtest.h>
#include <spnn/checkpoint/models.h>
#include <spnn/core/config.h>
#include <spnn/projection/stochastic_inverse.h>

#include "support/app_jobs.h"
#include "support/damage.h"

namespace spnn::engine {
namespace {

using ::testing::HasSubstr;

// A folder of thirty images, three of which are held out, and experiments of a few steps on it.
class Experiments : public testing::AppJobs {
 protected:
  Experiments() {
    for (int i = 1; i <= 30; ++i) image(fmt::format("set/{}.png", std::string(static_cast<std::size_t>(i), 'a')));
  }
  template <class Job>
  Job tried() const {
    Job job;
    job.models = models->choice();
    job.data = (folder / "set").string();
    job.output = (folder / "out").string();
    job.report = (folder / "report").string();
    job.sampling = {.steps = 4, .batch = 2};
    return job;
  }
  // The classifier with these further tensors.
  ModelChoice with(const std::map<std::string, Tensor>& tensors) const {
    auto content = read_safetensors(models->file("classifier"));
    for (const auto& [name, tensor] : tensors) content.tensors[name] = tensor;
    auto choice = models->choice();
    choice.classifier = (folder / "more.safetensors").string();
    write_safetensors(choice.classifier, content);
    return choice;
  }
};

TEST_F(Experiments, EditingIsGradedAgainstTheTargetThatWasAimedAt) {
  auto job = tried<EditingExperiment>();
  job.seeds = 2;
  job.unguided = 3;
  job.attributes = {"Cat"};
  job.sets = {{{"Cat"}, {"Dog", false}}};
  const auto result = jobs.evaluate_editing(job, observer);
  const auto json = Json::parse(result.json);
  ASSERT_EQ(json.at("edits").size(), 2U);
  EXPECT_EQ(json.at("edits")[1].at("edit"), "Cat + no Dog");
  EXPECT_TRUE(std::filesystem::exists(folder / "out/Cat-1.png"));
  EXPECT_TRUE(std::filesystem::exists(result.page));

  // The same edit by a session: the same bytes, hence the same |Δp|.
  EditRequest wish{.attributes = {{"Cat"}}, .samples = 2};
  wish.sampling = job.sampling;
  wish.guidance = job.guidance;
  const auto made = open()->edit(wish, observer);
  EXPECT_NEAR(json.at("edits")[0].at("mean_abs_dp").get<double>(), made.mean_abs_dp, 1e-5);
}

// All outputs of one training image, where that was asked for.
TEST_F(Experiments, AnEditAimsAtAnExemplarIfAsked) {
  const auto exemplars = models->net()->forward(Rng(8).uniform({200, 1, 32, 32}) * 2 - 1).detach();
  EditRequest wish{.attributes = {{"Cat", true, "exemplar"}}, .margin = 0};
  wish.sampling.steps = 6;
  wish.photos = photos({image("me.png")});
  const auto made = open(with({{"statistics.exemplars", exemplars}}))->edit(wish, observer).images.at(0);
  const auto target = torch::tensor(made.target, torch::kFloat64);
  const auto distance = (exemplars.to(torch::kFloat64) - target).abs().amax(1).min().item<double>();
  EXPECT_LT(distance, 1e-4) << "the reported target is one of them";
  EXPECT_GT(made.target[2], 0) << "and it is a cat";
}

TEST_F(Experiments, AnEditOfAPhotoInOnePassLeavesItsOtherOutputsAlone) {
  const auto y = models->net()->forward(to_unit(read_image(image("me.png"))).unsqueeze(0)).squeeze(0).detach();
  EditRequest wish{.attributes = {{.name = "Cat", .probability = 0.7}}, .fast = true};
  wish.photos = photos({image("me.png")});
  const auto made = open()->edit(wish, observer).images.at(0);
  for (std::size_t a = 0; a < made.target.size(); ++a) {
    const double expected = a == 2 ? std::log(0.7 / 0.3) : y[static_cast<std::int64_t>(a)].item<double>();
    EXPECT_NEAR(made.target[a], expected, 1e-4) << a;
  }
}

// The mean over views asks for nothing but the wish; a probability is still met.
TEST_F(Experiments, AnEditOfAPhotoMeetsAProbability) {
  EditRequest wish{.attributes = {{.name = "Cat", .probability = 0.7}}};
  wish.photos = photos({image("me.png")});
  const auto made = open()->edit(wish, observer).images.at(0);
  EXPECT_NEAR(1 / (1 + std::exp(-made.target[2])), 0.7, 0.051);
  EXPECT_NEAR(made.outputs[2], made.target[2], 0.1);   // of the 8-bit image
}

// The order of wishes does not matter, and what an edit did another undoes.
TEST_F(Experiments, EditsOfPhotosCommute) {
  EditRequest one{.attributes = {{"Cat"}, {"Dog", false}}, .fast = true}, other{.attributes = {{"Dog", false}, {"Cat"}}, .fast = true};
  one.photos = other.photos = photos({image("me.png")});
  EXPECT_EQ(open()->edit(one, observer).images.at(0).image.pixels, open()->edit(other, observer).images.at(0).image.pixels);
}

TEST_F(Experiments, PhotosAreEditedToTheOtherSideAndMeasured) {
  testing::write_file(folder / "set/labels.csv", [] {
    std::string text = "file,Ant,Bee,Cat,Dog,Elk,Fox,Gnu,Hen,Ibis,Jay\n";
    for (std::size_t i = 1; i <= 30; ++i) text += std::string(i, 'a') + fmt::format(".png,{0},{0},{0},{0},{0},{0},{0},{0},{0},{0}\n", i % 2);
    return text;
  }());
  auto job = tried<PhotosExperiment>();
  job.photos = 2;
  job.attributes = {"Cat", "Dog"};
  job.fast = true;
  const auto result = jobs.evaluate_photos(job, observer);
  const auto json = Json::parse(result.json);
  ASSERT_EQ(json.at("edits").size(), 2U);
  EXPECT_GE(json.at("mean").at("agreement").get<double>(), 0.5);
  EXPECT_TRUE(json.at("mean").at("identity").is_null());
  EXPECT_TRUE(std::filesystem::exists(folder / "out/000-Cat.png"));
  EXPECT_TRUE(std::filesystem::exists(result.page));
}

TEST_F(Experiments, ThePriorIsHeldAgainstRealImages) {
  auto job = tried<PriorExperiment>();
  job.samples = 3;
  const auto json = Json::parse(jobs.evaluate_prior(job, observer).json);
  EXPECT_TRUE(std::isfinite(json.at("frechet").get<double>()));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/samples.png"));
}

TEST_F(Experiments, AblationTriesEveryPseudoInverseAndMetric) {
  auto job = tried<AblationExperiment>();
  job.images = 2;
  job.pseudo_inverses = {"learned", "random", "min-norm"};
  job.metrics = {"plain", "naive"};
  job.lambdas = {1.0};
  job.shown = 1;
  const auto json = Json::parse(jobs.ablate(job, observer).json);
  ASSERT_EQ(json.at("variants").size(), 4U) << "this model has no min-norm r";
  EXPECT_EQ(json.at("variants")[1].at("guidance").at("metric"), "naive");
  EXPECT_EQ(Json::parse(read_text(folder / "out/ablation.json")).at("variants").size(), 4U);
}

TEST_F(Experiments, PreimagesAreManyImagesOfOneTarget) {
  const auto model = load_spnn(models->file("classifier"));
  model.net->add_r_set(StochasticInverse::scales, Rng(2));
  auto content = read_safetensors(models->file("classifier"));
  for (const auto& [name, tensor] : state_of(*model.net)) content.tensors[name] = tensor;
  content.metadata["architecture"] = to_json(model.net->config()).dump();
  PreimagesJob job;
  job.models = models->choice();
  job.models.classifier = (folder / "stochastic.safetensors").string();
  write_safetensors(job.models.classifier, content);
  job.attributes = {{"Cat"}};
  job.count = 3;
  job.output = (folder / "preimages.png").string();
  const auto report = jobs.preimages(job, observer);
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_LT(report.rows[0].consistency, 1e-3) << "all have the same outputs";
  EXPECT_GT(report.rows[0].distance, 1e-3) << "and are different";
}

// What is in the repository: each pair of shipped models is loaded, verified, and edits an image.
class ShippedModels : public ::testing::TestWithParam<const char*> {};

TEST_P(ShippedModels, AreVerifiedAndEdit) {
  const auto file = std::filesystem::path(SPNN_SOURCE_DIR) / "models" / fmt::format("{}-classifier.safetensors", GetParam());
  if (!std::filesystem::exists(file) || std::filesystem::file_size(file) < 100000) GTEST_SKIP() << file << " is not here";
  const auto session = open_session({.models = {.family = GetParam()}});
  Observer silent;
  EXPECT_TRUE(session->verify({.count = 2}, silent).passed);
  const auto info = session->info();
  EditRequest wish{.attributes = {{info.names.at(0)}}, .ask_judge = true};
  wish.sampling.steps = 6;
  const auto made = session->edit(wish, silent).images.at(0);
  EXPECT_EQ(made.image.width, info.width);
  EXPECT_EQ(made.judge.size(), info.names.size());
  EXPECT_EQ(session->attributes().size(), info.names.size());
}

INSTANTIATE_TEST_SUITE_P(OfTheRepository, ShippedModels, ::testing::Values("celebahq64", "fashion"));

}  // namespace
}  // namespace spnn::engine
