#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/config.h>
#include <spnn/core/rng.h>
#include <spnn/training/plot.h>
#include <spnn/training/statistics.h>

#include "support/damage.h"
#include "support/temporary.h"
#include "support/tensor_near.h"

using namespace spnn;
using namespace spnn::testing;
using ::testing::HasSubstr;

TEST(OutputStatistics, AreMeanAndCovariance) {
  const auto y = Rng(1).randn({50, 4}) + 3;
  const auto s = output_statistics(y);
  EXPECT_THAT(s.at("statistics.mean"), TensorNear(y.mean(0), 1e-5));
  EXPECT_THAT(s.at("statistics.covariance"), TensorNear(torch::cov(y.t()), 1e-5));
}

TEST(OutputStatistics, KeepSomeRowsEvenlyTaken) {
  const auto y = torch::arange(3 * 4096).reshape({-1, 1}).to(torch::kFloat32);
  const auto kept = output_statistics(y).at("statistics.exemplars");
  EXPECT_EQ(kept.size(0), 4096);
  EXPECT_TRUE(torch::equal(kept, y.slice(0, 0, y.size(0), 3)));
}

TEST(OutputStatistics, GoIntoAModelFileBesideItsWeights) {
  const TemporaryFolder folder;
  const auto file = folder / "model.safetensors";
  write_safetensors(file, {{{"weight", torch::ones({2})}, {"statistics.mean", torch::zeros({4})}}, {{"kind", "spnn"}}});
  add_to_model(file, output_statistics(Rng(1).randn({50, 4})));
  const auto content = read_safetensors(file);
  EXPECT_EQ(content.tensors.size(), 4u);   // the weight, and mean, covariance and exemplars
  EXPECT_GT(content.tensors.at("statistics.mean").abs().max().item<double>(), 0);
  EXPECT_EQ(content.metadata.at("kind"), "spnn");
}

TEST(Plot, DrawsOneLineAColumn) {
  const TemporaryFolder folder;
  write_text_atomically(folder / "record.csv", "step,task,stability,rate\n20,0.5,0.25,0.001\n40,0.25,0.2,0.001\n60,0.2,0,0.001\n");
  write_text_atomically(folder / "validation.csv", "step,mean_accuracy\n60,0.9\n");
  const auto svg = plot_run(folder.path());
  std::size_t lines = 0;
  for (auto at = svg.find("<polyline"); at != std::string::npos; at = svg.find("<polyline", at + 1)) ++lines;
  EXPECT_EQ(lines, 4u);
  EXPECT_THAT(svg, HasSubstr("validation: mean_accuracy"));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(Plot, NamesWhatIsMissingOrBroken) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal([&] { plot_run(folder.path()); }), HasSubstr("expected a run directory with record.csv or validation.csv"));
  write_text_atomically(folder / "record.csv", "step,task\n20,0.5\n40\n");
  EXPECT_THAT(refusal([&] { plot_run(folder.path()); }), HasSubstr("record.csv:3: expected 2 cells, got 1"));
}
