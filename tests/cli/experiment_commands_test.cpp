#include <gmock/gmock.h>
#include <spnn/checkpoint/models.h>
#include <spnn/core/config.h>
#include <spnn/core/rng.h>
#include <spnn/image/image.h>
#include <spnn/projection/stochastic_inverse.h>

#include <fmt/ranges.h>

#include <cmath>

#include "support/command.h"
#include "support/tiny_models.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::spnn_command;

// Thirty labelled images, tiny models, and commands of a few steps.
class ExperimentCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { models = new testing::TinyModels; }
  static void TearDownTestSuite() { delete models; }

  ExperimentCommands() {
    std::filesystem::create_directories(folder / "set");
    std::string table = "file," + fmt::format("{}\n", fmt::join(models->names(), ","));
    for (int i = 1; i <= 30; ++i) {
      const auto name = std::string(static_cast<std::size_t>(i), 'a') + ".png";
      write_image(folder / ("set/" + name), (Rng(static_cast<std::uint64_t>(i)).uniform({1, 32, 32}) * 255).to(torch::kUInt8));
      table += fmt::format("{0},{1},{1},{1},{1},{1},{1},{1},{1},{1},{1}\n", name, i % 2);
    }
    testing::write_file(folder / "set/labels.csv", table);
  }
  std::string path(const std::string& name) const { return (folder / name).string(); }
  // The figures that the command wrote.
  Json figures(const std::string& command) const {
    const auto done = spnn_command(fmt::format("{} --data {} --steps 2 --prior {} --judge {} --json {} -o {}", command, path("set"), models->file("prior"),
                                               models->file("judge"), path("figures.json"), path("out")));
    EXPECT_EQ(done.exit_code, 0) << command << "\n" << done.err;
    return done.exit_code == 0 ? read_config(folder / "figures.json") : Json();
  }

  inline static testing::TinyModels* models = nullptr;
  testing::TemporaryFolder folder;
};

TEST_F(ExperimentCommands, EvaluateEditingAndAblateWriteTheirFigures) {
  const auto classifier = " --classifier " + models->file("classifier");
  const auto edits = figures("evaluate editing --seeds 2 --unguided 3 --attributes Cat --set Cat,Dog=0" + classifier).at("edits");
  ASSERT_EQ(edits.size(), 2U);
  EXPECT_EQ(edits[1].at("edit"), "Cat + no Dog");
  EXPECT_TRUE(std::filesystem::exists(folder / "out/Cat-1.png"));
  const auto variants = figures("ablate --images 2 --pseudo-inverses learned,origin --metrics plain,naive --lambdas 1" + classifier).at("variants");
  ASSERT_EQ(variants.size(), 4U);
  EXPECT_EQ(variants[3].at("guidance").at("pseudo_inverse"), "origin");
  EXPECT_EQ(variants[3].at("guidance").at("metric"), "naive");
}

TEST_F(ExperimentCommands, EvaluatePriorTakesAModelFile) {
  const auto done = spnn_command(fmt::format("evaluate prior {} --data {} --samples 3 --steps 2 --judge {} --json {} -o {}", models->file("prior"), path("set"),
                                             models->file("judge"), path("prior.json"), path("out")));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("samples of the prior"));
  EXPECT_TRUE(std::isfinite(read_config(folder / "prior.json").at("frechet").get<double>()));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/samples.png"));
}

TEST_F(ExperimentCommands, PreimagesNeedScalesAndAnAttribute) {
  const auto options = fmt::format("-n 3 --judge {} --prior {} -o {} --json {}", models->file("judge"), models->file("prior"), path("sheet.png"), path("p.json"));
  const auto without = spnn_command(fmt::format("preimages --set Cat --classifier {} {}", models->file("classifier"), options));
  EXPECT_EQ(without.exit_code, 1) << "this classifier has no log-scales";
  const auto model = load_spnn(models->file("classifier"));
  model.net->add_r_set(StochasticInverse::scales, Rng(2));
  auto content = read_safetensors(models->file("classifier"));
  for (const auto& [name, tensor] : state_of(*model.net)) content.tensors[name] = tensor;
  content.metadata["architecture"] = to_json(model.net->config()).dump();
  write_safetensors(folder / "stochastic.safetensors", content);
  const auto line = fmt::format("preimages --classifier {} {}", path("stochastic.safetensors"), options);
  EXPECT_EQ(spnn_command(line).exit_code, 2) << "neither --set nor --unset";
  const auto drawn = spnn_command(line + " --set Cat");
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_LT(read_config(folder / "p.json").at("rows")[0].at("consistency").get<double>(), 1e-3);
  EXPECT_TRUE(std::filesystem::exists(folder / "sheet.png"));
}

// Phase I, phase II, a judge and a prior: what one command leaves the next one takes.
TEST_F(ExperimentCommands, TrainMakesModelsThatOtherCommandsTake) {
  const std::string few = "[train]\nsteps = 2\nbatch = 8\nwarmup = 1\nvalidate_every = 2\ncheckpoint_every = 2\n";
  const auto trained = [&](const std::string& what, const std::string& config) {
    testing::write_file(folder / (what + ".toml"), config + few);
    const auto done = spnn_command(fmt::format("train {} {} --data {} --run {}", what, path(what + ".toml"), path("set"), path(what)));
    EXPECT_EQ(done.exit_code, 0) << what << "\n" << done.err;
    return path(what + "/best.safetensors");
  };
  const auto classifier = trained("classifier", "network = \"fashion\"\n");
  const auto judge = trained("judge", "[judge]\nimage_size = 32\nin_channels = 1\nwidths = [8, 8]\nblocks = [1, 1]\nsqueeze = 4\nfeatures = 12\nnorm_groups = 4\n");
  const auto prior = trained("prior", "parameterization = \"v\"\n[unet]\nimage_size = 32\nin_channels = 1\nout_channels = 1\nstem = 2\nch = 8\nch_mult = [1, 2]\n"
                                      "num_res_blocks = 1\nattn_resolutions = []\nnorm_groups = 4\n");
  testing::write_file(folder / "inverse.toml", few);
  const auto second = spnn_command(fmt::format("train inverse {} {} --data {} --run {}", classifier, path("inverse.toml"), path("set"), path("inverse")));
  ASSERT_EQ(second.exit_code, 0) << second.err;

  const auto again = spnn_command(fmt::format("train classifier {} --data {} --run {}", path("classifier.toml"), path("set"), path("classifier")));
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("add --resume"));
  const auto edited = spnn_command(fmt::format("edit --set Cat --steps 2 --classifier {} --prior {} -o {}", path("inverse/best.safetensors"), prior, path("edited")));
  EXPECT_EQ(edited.exit_code, 0) << edited.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "edited/Cat.png"));
  const auto rated = spnn_command(fmt::format("evaluate classifier {} --judge {} --data {} --split train", classifier, judge, path("set")));
  EXPECT_EQ(rated.exit_code, 0) << rated.err;
  EXPECT_THAT(rated.out, HasSubstr("Cat"));
}

// Whatever computes with a shipped model can be told where.
TEST(DeviceOption, IsInEveryCommandThatComputes) {
  for (const auto* command : {"edit", "reconstruct", "restore", "compare", "sample", "project", "pinv", "verify", "preimages", "ablate", "studio", "evaluate classifier",
                              "evaluate identity", "evaluate reconstruction", "evaluate editing", "evaluate photos", "evaluate prior", "evaluate cascade"}) {
    EXPECT_THAT(spnn_command(std::string(command) + " --help").out, HasSubstr("--device TEXT")) << command;
  }
}

// What knows no other device says so, instead of computing where nobody asked it to.
TEST(DeviceOption, IsRefusedInWordsWhereOnlyTheCpuWillDo) {
  const testing::TinyModels models;
  const auto here = models.file("prior");   // a file that is there: options are looked at first
  const auto in = [&](const std::string& command) { return spnn_command(command + " --device cuda"); };
  for (const std::string kind : {"prior", "classifier", "natural", "judge", "upscaler", "identity", "density", "inverse", "degradation"}) {
    const auto result = in(fmt::format("train {} {} --data {} --run {}/run", kind, kind == "inverse" ? here + " " + here : here, here, models.folder().path().string()));
    EXPECT_EQ(result.exit_code, 2) << kind;
    EXPECT_THAT(result.err, HasSubstr("--device: expected cpu, because training runs on the CPU only, got 'cuda'")) << kind;
  }
  for (const std::string kind : {"sample", "interpolate", "evaluate"})
    EXPECT_THAT(in(fmt::format("density {} {} --data {}", kind, here, here)).err, HasSubstr("--device: expected cpu, because densities are computed on the CPU only, got 'cuda'")) << kind;
  EXPECT_THAT(in("inverses").err, HasSubstr("--device: expected cpu, because these small maps are computed on the CPU only, got 'cuda'"));
  EXPECT_EQ(spnn_command("inverses --device cpu").exit_code, 0);
}

}  // namespace
}  // namespace spnn
