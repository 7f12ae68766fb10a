#include <spnn/engine/engine.h>
#include <spnn/jobs/field_session.h>
#include <spnn/jobs/restoration_session.h>
#include <spnn/jobs/write_json.h>
#include <spnn/jobs/pictures.h>
#include <spnn/core/errors.h>
#include <spnn/core/io.h>
#include <spnn/evaluation/opinion.h>
#include <spnn/image/grid.h>
#include <spnn/projection/stochastic_inverse.h>

#include <algorithm>
#include <limits>

namespace spnn::engine {
namespace {

// Who is asked about images, and what was wanted of them.
struct Wanted {
  const SpnnModel& classifier;
  const Judge& judge;
  Tensor y;                       // [1, A]
  std::vector<AttributeChange> changes;
};

double share_right(const Tensor& logits, const std::vector<AttributeChange>& changes) {
  double sum = 0;
  for (const auto& change : changes) {
    const auto positive = logits.select(1, change.attribute).gt(0).to(torch::kFloat64).mean().item<double>();
    sum += change.present ? positive : 1 - positive;
  }
  return sum / static_cast<double>(changes.size());
}

PreimagesReport::Row measured(const std::string& name, const Tensor& bytes, const Wanted& wanted) {
  const auto opinion = opinion_on(wanted.judge, bytes);
  const auto& net = *wanted.classifier.net;
  const auto by_g = net.forward(to_unit(bytes).to(net.options().device())).to(torch::kCPU);
  const auto agrees = opinion.logits.gt(0).eq(wanted.y.gt(0)).to(torch::kFloat64);
  return {.name = name, .images = bytes.size(0), .distance = mean_pairwise_distance(to_unit(bytes)),
          .feature_distance = mean_pairwise_distance(opinion.features), .by_g = share_right(by_g, wanted.changes),
          .by_judge = share_right(opinion.logits, wanted.changes), .judge_all = agrees.mean().item<double>(),
          .consistency = std::numeric_limits<double>::quiet_NaN()};
}

Tensor read_folder(const std::string& folder, const Shape& shape) {
  const auto files = image_files({folder});
  require(files.size() > 1, folder, "two images or more", std::to_string(files.size()));
  std::vector<Tensor> images;
  for (const auto& file : files) images.push_back(open_photo(photo_file(file), shape, /*fit=*/false));
  return torch::stack(images);
}

Json as_json(const PreimagesReport::Row& row) {
  return {{"name", row.name}, {"images", row.images}, {"distance", row.distance}, {"feature_distance", row.feature_distance},
          {"by_g", row.by_g}, {"by_judge", row.by_judge}, {"judge_all", row.judge_all}, {"consistency", row.consistency}};
}

}  // namespace

PreimagesReport Engine::preimages(const PreimagesJob& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  if (job.attributes.empty()) throw UsageError("preimages: expected one attribute or more (--set, --unset), got none");
  std::filesystem::create_directories(std::filesystem::absolute(job.output).parent_path());
  require_writable(job.output);
  const LoadedModels loaded({.models = job.models, .device = job.device});
  const auto& classifier = loaded.classifier();
  const auto& judge = loaded.judge();
  const StochasticInverse inverse(classifier.net);
  const auto changes = attribute_changes(job.attributes, classifier.outputs.names);
  const auto statistics = statistics_of(classifier);
  const AttributeTarget target(statistics, {.changes = changes, .strength = job.strength, .margin = job.margin});
  const auto y = target(statistics.mean.to(torch::kFloat32).unsqueeze(0));   // of the mean image: one target for all draws
  const Wanted wanted{classifier, *judge.net, y, changes};

  const auto x = inverse.sample(y.to(loaded.device()).expand({job.count, -1}).contiguous(), {.rng = Rng(job.seed), .temperature = job.temperature});
  observer.message(fmt::format("{} pre-images of one target at temperature {}", job.count, job.temperature));
  const auto bytes = to_bytes(x).to(torch::kCPU);
  PreimagesReport report{{measured("stochastic inverse", bytes, wanted)}};
  report.rows.front().consistency = (classifier.net->forward(x).to(torch::kCPU) - y).abs().max().item<double>();
  if (!job.beside.empty()) report.rows.push_back(measured(job.beside, read_folder(job.beside, classifier.net->in_shape()), wanted));
  write_image(job.output, grid(bytes, {.columns = 8}));
  Json rows = Json::array();
  for (const auto& row : report.rows) rows.push_back(as_json(row));
  write_json(job.json, {{"seed", job.seed}, {"temperature", job.temperature}, {"rows", rows}});
  return report;
}

}  // namespace spnn::engine
