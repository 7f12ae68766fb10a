#include <spnn/checkpoint/load_flow.h>
#include <spnn/checkpoint/models.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/training/density.h>

#include "support/damage.h"
#include "support/tensor_near.h"
#include "training/tiny.h"

using namespace spnn;
using namespace spnn::testing;
using ::testing::HasSubstr;

namespace {

DensityRecipe tiny_density(const std::string& preset, std::int64_t steps) {
  DensityRecipe recipe;
  recipe.flow = Json{{"preset", preset}, {"input", {3, 8, 8}}, {"bits", 5}, {"steps", {2, 2}}, {"hidden", {8, 8}}}.get<FlowConfig>();
  recipe.augment.flip = false;
  recipe.train = tiny_training(steps);
  return recipe;
}

}  // namespace

TEST(DensityTraining, EveryPresetLearnsAndItsFileLoadsOnlyAsADensity) {
  const auto set = tiny_dataset(128), val = tiny_dataset(64, 2);
  for (const std::string preset : {"nice", "realnvp", "glow", "survae-maxpool", "spline"}) {
    const TemporaryFolder folder;
    DensityObjective objective(tiny_density(preset, 40), set, val);
    const double before = objective.validate().score;
    train_in(folder / "run", objective, tiny_training(40));
    const auto file = folder / "run/model.safetensors";
    const auto flow = load_flow(file);
    const double after = bits_per_dim_over(*flow, val.images, Rng(1)).mean().item<double>();
    EXPECT_LT(after, before - 0.1) << preset;
    EXPECT_THAT(refusal([&] { load_spnn(file); }), HasSubstr("expected a model of kind 'spnn', got our own file of kind 'density'"));
  }
}

TEST(DensityTraining, InterruptedAnywhereEndsWithTheSameBits) {
  const auto set = tiny_dataset(64), val = tiny_dataset(32, 2);
  const TemporaryFolder folder;
  DensityObjective whole(tiny_density("glow", 12), set, val);
  train_in(folder / "whole", whole, tiny_training(12));
  DensityObjective first(tiny_density("glow", 12), set, val), second(tiny_density("glow", 12), set, val);
  StopsAfter observer(5);
  EXPECT_THROW(train_in(folder / "parts", first, tiny_training(12), observer), Interrupted);
  Observer quiet;
  train_in(folder / "parts", second, tiny_training(12), quiet, /*resume=*/true);
  const auto one = read_safetensors(folder / "whole/model.safetensors"), two = read_safetensors(folder / "parts/model.safetensors");
  for (const auto& [name, value] : one.tensors) EXPECT_TRUE(torch::equal(value, two.tensors.at(name))) << name;
}

TEST(DensityTraining, BitsOfAnImageDoNotDependOnItsBatch) {
  const auto set = tiny_dataset(10);
  const DensityRecipe recipe = tiny_density("survae-maxpool", 1);
  Flow flow(recipe.flow);
  initialise_flow(flow, Rng(1));
  const auto all = bits_per_dim_over(flow, set.images, Rng(3), 10), cut = bits_per_dim_over(flow, set.images, Rng(3), 3);
  EXPECT_THAT(cut, TensorNear(all, 1e-4));
}
