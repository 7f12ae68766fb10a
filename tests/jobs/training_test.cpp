#include <gtest/gtest.h>
#include <spnn/checkpoint/models.h>
#include <spnn/core/config.h>

#include "support/app_jobs.h"
#include "support/damage.h"

namespace spnn::engine {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

// Forty images of two attributes.
class TrainingJobs : public testing::AppJobs {
 protected:
  TrainingJobs() {
    std::string table = "file,Ant,Bee\n";
    for (int i = 1; i <= 40; ++i) {
      const auto name = std::string(static_cast<std::size_t>(i), 'a') + ".png";
      image("set/" + name);
      table += fmt::format("{},{},{}\n", name, i % 2, i % 3 == 0 ? 1 : 0);
    }
    testing::write_file(folder / "set/labels.csv", table);
    const Json training = {{"steps", 2}, {"batch", 8}, {"warmup", 1}, {"validate_every", 2}, {"checkpoint_every", 2}};
    testing::write_file(folder / "classifier.json", Json{{"network", "fashion"}, {"train", training}}.dump());
  }
  ClassifierJob job(const std::string& run) const {
    ClassifierJob job;
    job.config = (folder / "classifier.json").string();
    job.data = (folder / "set/labels.csv").string();
    job.run = (folder / run).string();
    return job;
  }
};

// Shipped classifiers have a further set of r nets; they must be a start like any other.
TEST_F(TrainingJobs, AClassifierWithFurtherRNetsCanBeContinued) {
  jobs.train_classifier(job("first"), observer);
  const auto model = load_spnn(folder / "first/best.safetensors");
  model.net->add_r_set("log_scale", Rng(1));
  auto content = read_safetensors(folder / "first/best.safetensors");
  content.tensors = state_of(*model.net);
  content.metadata["architecture"] = to_json(model.net->config()).dump();
  write_safetensors(folder / "shipped.safetensors", content);

  struct Hears : Observer {
    void message(const std::string& text) override { all += text + "\n"; }
    std::string all;
  } hears;
  auto next = job("next");
  next.from = (folder / "shipped.safetensors").string();
  jobs.train_classifier(next, hears);
  EXPECT_THAT(hears.all, HasSubstr("further r nets are left behind"));
  EXPECT_FALSE(load_spnn(folder / "next/best.safetensors").net->has_r_set("log_scale"));
}

TEST_F(TrainingJobs, ComparisonIsInterruptedWhileItReadsItsImages) {
  struct CancelledOnce : Observer {
    bool cancelled() const override { return ++asked == 1; }
    mutable int asked = 0;
  } cancelled;
  CompareJob wish;
  wish.models = models->choice();
  wish.data = (folder / "set").string();
  wish.operators = {"sr4@0"};
  wish.images = 2;
  wish.output = (folder / "comparison").string();
  EXPECT_THROW(jobs.compare(wish, cancelled), Interrupted);
  EXPECT_FALSE(std::filesystem::exists(folder / "comparison")) << "nothing was begun";
}

}  // namespace
}  // namespace spnn::engine
