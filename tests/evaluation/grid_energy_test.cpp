#include <gtest/gtest.h>
#include <spnn/core/errors.h>
#include <spnn/core/rng.h>
#include <spnn/evaluation/grid_energy.h>

using namespace spnn;

namespace {

Tensor white(std::uint64_t seed) { return Rng(seed).randn({32, 3, 64, 64}); }

// A falling spectrum, as photos and their differences have.
Tensor smooth(std::uint64_t seed) {
  auto x = Rng(seed).randn({32, 3, 72, 72});
  return torch::avg_pool2d(torch::avg_pool2d(x, 5, 1), 5, 1) + 0.1 * white(seed + 1);
}


}  // namespace

TEST(GridEnergy, IsOneWhereThereIsNoGrid) {
  for (const auto& images : {white(1), smooth(2)}) {
    for (const auto energy : grid_energies(images, {2, 4, 8})) EXPECT_NEAR(energy, 1, 0.2);
  }
}

TEST(GridEnergy, FindsAFaintPattern) {
  for (const std::int64_t period : {2, 4, 8}) {
    auto pattern = torch::zeros({64, 64});
    pattern.slice(0, 0, 64, period).fill_(0.25 * static_cast<double>(period));
    const auto marked = white(4) + pattern;
    EXPECT_GT(grid_energy(marked, period), 2) << period;   // 5 in one direction, 1 in the other
    EXPECT_NEAR(grid_energy(white(4), period), 1, 0.2);
  }
}

// The same pattern of half of all cells, each with its own sign, as an attribute's change has: no line of the whole image, but steps at
// every border of cells.
TEST(GridEnergy, SeesPatternsThatRepeatWithEveryCell) {
  const auto pattern = Rng(5).randn({1, 1, 4, 4}).repeat({1, 1, 16, 16});
  const auto strength = Rng(6).randn({32, 3, 16, 16}).abs().repeat_interleave(4, 2).repeat_interleave(4, 3);
  EXPECT_GT(grid_energy(pattern * strength + 0.1 * white(7), 4), 1.5);
}

TEST(GridEnergy, RefusesWhatItCannotMeasure) {
  EXPECT_THROW(grid_energy(torch::zeros({64, 64}), 4), Error);
  EXPECT_THROW(grid_energy(white(1), 3), Error);
  EXPECT_THROW(grid_energy(white(1), 32), Error);
}
