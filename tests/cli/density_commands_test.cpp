#include <gmock/gmock.h>
#include <spnn/core/config.h>
#include <spnn/core/rng.h>
#include <spnn/image/image.h>

#include "support/command.h"

namespace spnn {
namespace {

using ::testing::HasSubstr;
using testing::spnn_command;

// A folder of 40 images with a CSV, and a run of a few steps on it.
class DensityCommands : public ::testing::Test {
 protected:
  DensityCommands() {
    std::filesystem::create_directories(folder / "images");
    std::string table = "file,Bright\n";
    for (int i = 0; i < 40; ++i) {
      const auto level = i % 2 == 0 ? 60 : 160;
      const auto image = (Rng(static_cast<std::uint64_t>(i)).uniform({3, 8, 8}) * 60 + level).to(torch::kUInt8);
      write_image(folder / fmt::format("images/{}.png", i), image);
      table += fmt::format("{}.png,{}\n", i, i % 2);
    }
    testing::write_file(folder / "images/labels.csv", table);
    testing::write_file(folder / "glow.toml",
                        "[flow]\npreset = \"glow\"\ninput = [3, 8, 8]\nbits = 5\nsteps = [2, 2]\nhidden = [8, 8]\n"
                        "[train]\nsteps = 6\nbatch = 8\nwarmup = 2\nvalidate_every = 3\ncheckpoint_every = 3\n");
  }

  std::string path(const std::string& name) const { return (folder / name).string(); }
  testing::CommandResult train(const std::string& more = "") const {
    return spnn_command(fmt::format("train density {} --data {} --run {} {}", path("glow.toml"), path("images"), path("run"), more));
  }

  testing::TemporaryFolder folder;
};

TEST_F(DensityCommands, TrainThenEvaluateSampleAndInterpolate) {
  const auto trained = train();
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const auto model = path("run/model.safetensors");
  EXPECT_TRUE(std::filesystem::exists(folder / "run/samples-000006.png"));

  const auto evaluated = spnn_command(fmt::format("density evaluate {} --data {} --split train --json {}", model, path("images"), path("e.json")));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.out, HasSubstr("bits per dimension"));
  const auto figures = read_config(folder / "e.json");
  EXPECT_EQ(figures.at("name"), "glow");
  EXPECT_GT(figures.at("bits_per_dim").get<double>(), 0);
  EXPECT_EQ(figures.at("per_image").size(), figures.at("images").get<std::size_t>());

  const auto sampled = spnn_command(fmt::format("density sample {} -n 6 --columns 3 --temperature 0.7 -o {}", model, path("s.png")));
  ASSERT_EQ(sampled.exit_code, 0) << sampled.err;
  EXPECT_EQ(read_image(folder / "s.png").size(2), 3 * 8 + 4 * 2);

  const auto between = spnn_command(fmt::format("density interpolate {} {} {} --steps 5 -o {}", model, path("images/0.png"), path("images/1.png"), path("i.png")));
  ASSERT_EQ(between.exit_code, 0) << between.err;
  EXPECT_THAT(between.out, HasSubstr("1 pairs in"));

  const auto odd = spnn_command(fmt::format("density interpolate {} {}", model, path("images/0.png")));
  EXPECT_EQ(odd.exit_code, 2);
  EXPECT_THAT(odd.err, HasSubstr("expected pairs of images, got 1 files"));

  const auto as_prior = spnn_command(fmt::format("sample {} -o {}", model, path("p.png")));
  EXPECT_EQ(as_prior.exit_code, 1);
  EXPECT_THAT(as_prior.err, HasSubstr("expected a model of kind 'ddpm-unet', got our own file of kind 'density'"));

  const auto again = train();
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("add --resume"));
  EXPECT_EQ(train("--resume --steps 8").exit_code, 0);
}

TEST(InversesCommand, AgreeOnLinearMapsAndPartElsewhere) {
  const testing::TemporaryFolder folder;
  const auto result = spnn_command(fmt::format("inverses -o {} --json {}", (folder / "f.svg").string(), (folder / "t.json").string()));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto rows = read_config(folder / "t.json").at("rows");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_LT(rows[0].at("distance").get<double>(), 1e-6) << "a linear map";
  for (const auto& row : {rows[1], rows[2]}) {
    EXPECT_GT(row.at("distance").get<double>(), 1e-2) << row.at("map");
    EXPECT_LT(row.at("minimal").get<double>(), row.at("natural").get<double>()) << row.at("map");
    EXPECT_LT(row.at("residual_minimal").get<double>(), 1e-7) << row.at("map");
  }
  EXPECT_THAT(read_text(folder / "f.svg"), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace spnn
