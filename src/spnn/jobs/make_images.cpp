#include <spnn/core/errors.h>
#include <spnn/evaluation/agreement.h>
#include <spnn/evaluation/opinion.h>
#include <spnn/evaluation/report.h>
#include <spnn/image/grid.h>
#include <spnn/image/image.h>
#include <spnn/jobs/make_images.h>
#include <spnn/jobs/pictures.h>

namespace spnn::engine {
namespace {

Tensor numbers_of(const std::vector<AttributeChange>& changes) {
  std::vector<std::int64_t> numbers;
  for (const auto& change : changes) numbers.push_back(change.attribute);
  return torch::tensor(numbers, torch::kInt64);
}

// Of one image, [1, A]: how well the outputs that were asked for are what was aimed at. A class is there where its output is
// the largest of all.
Agreement agreement_on(Task task, const Tensor& y, const Tensor& target, const std::vector<AttributeChange>& changes) {
  if (changes.empty()) return agreement_of(task, y, target);
  if (task != Task::classes) {
    const auto asked = numbers_of(changes);
    return agreement_of(task, y.index_select(1, asked), target.index_select(1, asked));
  }
  Agreement agreement;
  const auto largest = y.argmax(1).item<std::int64_t>();
  const auto dp = (y.softmax(1) - target.softmax(1)).abs();
  for (const auto& change : changes) {
    agreement.mean += ((largest == change.attribute) == change.present ? 1.0 : 0.0) / static_cast<double>(changes.size());
    agreement.mean_abs_dp += dp[0][change.attribute].item<double>() / static_cast<double>(changes.size());
  }
  return agreement;
}

std::string rest_of(const std::vector<std::string>& names, std::size_t done) {
  std::string rest;
  for (std::size_t i = done; i < names.size(); ++i) rest += (rest.empty() ? "" : ", ") + names[i];
  return rest;
}

class ImageDelivery {
 public:
  ImageDelivery(const Delivery& delivery, Task task, const Judge* judge, const ImageSeeds& seeds)
      : delivery_(delivery), task_(task), judge_(judge), seeds_(seeds) {}

  void take(std::int64_t first, const Finalized& done) {
    const auto y = done.y.to(torch::kCPU).flatten(1), target = done.target.to(torch::kCPU).flatten(1);
    const auto bytes = done.bytes.to(torch::kCPU);
    const auto judged = judge_ ? opinion_on(*judge_, pooled_to(judge_->in_shape(), bytes)).logits.to(torch::kCPU) : Tensor();
    for (std::int64_t i = 0; i < bytes.size(0); ++i) {
      const auto at = static_cast<std::size_t>(first + i);
      const auto agreement = agreement_on(task_, y.slice(0, i, i + 1), target.slice(0, i, i + 1), delivery_.changes);
      made.images.push_back({.image = to_image(bytes[i]), .name = delivery_.names[at], .source = delivery_.sources[at],
                             .file = written(at, bytes[i]), .seed = seeds_.of(first + i), .outputs = numbers_in(y[i]),
                             .target = numbers_in(target[i]), .judge = judged.defined() ? numbers_in(judged[i]) : std::vector<double>(),
                             .agreement = agreement.mean, .mean_abs_dp = agreement.mean_abs_dp,
                             .consistency_sampled = done.before[i].item<double>(), .consistency = done.after[i].item<double>()});
    }
  }

  MadeImages made;

 private:
  std::string written(std::size_t at, const Tensor& bytes) const {
    if (delivery_.files.folder.empty()) return {};
    const auto file = std::filesystem::path(delivery_.files.folder) / delivery_.names[at];
    write_image(file, bytes);
    return file.string();
  }

  const Delivery& delivery_;
  Task task_;
  const Judge* judge_;
  const ImageSeeds& seeds_;
};

// Photo, edit and difference (grey is none) side by side; without photos, the images.
Tensor sheet_of(const Tensor& bytes, const Tensor& photos, GridOptions options) {
  if (!photos.defined()) return grid(bytes, options);
  const auto before = photos.to(torch::kCPU), after = to_unit(bytes);
  options.columns = 3;
  options.column_labels = {"photo", "edit", "difference"};
  options.captions.clear();
  return grid(torch::stack({to_bytes(before), bytes, to_bytes((after - before) / 2)}, 1).flatten(0, 1), options);
}

// The images and what the network says of the saved files.
ReportSection section_of(const Delivery& delivery, const MadeImages& made, const Tensor& bytes, const Tensor& photos) {
  Table table{.title = "Measured on the saved files", .columns = {"file", "seed", "agreement", "mean |Δp|", "√(g(x)−y)² sampled", "saved"}};
  GridOptions options{.columns = std::min<std::int64_t>(8, bytes.size(0)), .scale = 2};
  for (const auto& image : made.images) {
    options.captions.push_back(image.name);
    table.rows.push_back({image.name, std::to_string(image.seed), fmt::format("{:.1f} %", 100 * image.agreement),
                          fmt::format("{:.4f}", image.mean_abs_dp), fmt::format("{:.3f}", image.consistency_sampled),
                          fmt::format("{:.3f}", image.consistency)});
  }
  return {.name = delivery.section, .title = delivery.title, .command = delivery.files.command, .order = 50,
          .text = {fmt::format("{} images, {:.2f} s per image.", made.images.size(), made.timings.per_image)},
          .tables = {table}, .charts = {}, .pictures = {picture(delivery.title, sheet_of(bytes, photos, options))}};
}

}  // namespace

std::vector<double> numbers_in(const Tensor& y) {
  const auto flat = y.to(torch::kCPU, torch::kFloat64).flatten().contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

void name_images(Delivery& delivery, const std::vector<std::string>& stems, std::int64_t samples) {
  delivery.names = output_names(stems, samples);
  for (std::size_t i = 0; i < delivery.names.size(); ++i) delivery.sources.push_back(stems[i / static_cast<std::size_t>(samples)]);
}

MadeImages make_images(const LoadedModels& loaded, const RestorationModels& models, const BackProjector& g, const RestorerConfig& config,
                       RestorationTask task, const Delivery& delivery, Observer& observer) {
  if (!delivery.files.folder.empty()) require_writable_folder(delivery.files.folder);
  const auto seeds = task.seeds;
  ImageDelivery saver(delivery, task_from(models.classifier.outputs.task), delivery.ask_judge ? loaded.judge().net.get() : nullptr, seeds);
  task.names = delivery.names;
  task.kept = delivery.kept;
  task.on_batch = [&](std::int64_t first, const Finalized& done) { saver.take(first, done); };
  auto& made = saver.made;
  made.timings = {.loading = delivery.loading, .until_first_step = delivery.since.seconds()};
  const Stopwatch watch;
  Tensor bytes;
  try {
    bytes = restore(*models.prior, g, config, task, observer).bytes;
  } catch (const Interrupted&) {
    const auto done = made.images.size();
    throw Interrupted(fmt::format("interrupted: {} of {} images are in {}; not made: {}", done, delivery.names.size(),
                                  delivery.files.folder.empty() ? "memory" : delivery.files.folder, rest_of(delivery.names, done)));
  }
  const auto count = static_cast<double>(made.images.size());
  for (const auto& image : made.images) {
    made.agreement += image.agreement / count;
    made.mean_abs_dp += image.mean_abs_dp / count;
  }
  for (const auto& change : delivery.changes) made.controlled.push_back(change.attribute);
  made.timings.per_image = watch.seconds() / count;
  if (!delivery.files.report.empty()) made.page = add_to_report(delivery.files.report, section_of(delivery, made, bytes.to(torch::kCPU), task.start.photo)).string();
  made.timings.total = delivery.since.seconds();
  return made;
}

}  // namespace spnn::engine
