#include <spnn/app/restore_and_save.h>
#include <spnn/core/errors.h>
#include <spnn/core/stopwatch.h>
#include <spnn/evaluation/agreement.h>
#include <spnn/evaluation/report.h>
#include <spnn/image/grid.h>
#include <spnn/image/image.h>

namespace spnn::app {
namespace {

struct Rows {
  Tensor y, target;
};

Rows controlled_rows(const Tensor& y, const Tensor& target, const Tensor& controlled) {
  if (!controlled.defined()) return {y, target};
  return {y.index_select(1, controlled), target.index_select(1, controlled)};
}

std::string rest_of(const std::vector<Wish>& wishes, std::size_t done) {
  std::string names;
  for (std::size_t i = done; i < wishes.size(); ++i) names += (names.empty() ? "" : ", ") + wishes[i].file;
  return names;
}

ImageSeeds seeds_of(const std::vector<Wish>& wishes, std::int64_t first, std::int64_t last) {
  std::vector<std::uint64_t> seeds;
  for (auto i = first; i < last; ++i) seeds.push_back(wishes[static_cast<std::size_t>(i)].seed);
  return ImageSeeds(std::move(seeds));
}

class Saver {
 public:
  Saver(const RestorationWork& work, Task task) : work_(work), task_(task) {}

  void save(std::int64_t first, const Finalized& done) {
    const auto target = work_.target(first, first + done.bytes.size(0))(done.y);
    for (std::int64_t i = 0; i < done.bytes.size(0); ++i) {
      const auto& wish = work_.wishes[static_cast<std::size_t>(first + i)];
      const auto file = std::filesystem::path(work_.output) / wish.file;
      write_image(file, done.bytes[i]);
      const auto [y, wanted] = controlled_rows(done.y.slice(0, i, i + 1), target.slice(0, i, i + 1), work_.controlled);
      const auto agreement = agreement_of(task_, y, wanted);
      report.images.push_back({.file = file.string(), .source = wish.source, .seed = wish.seed,
                               .agreement = agreement.mean, .mean_abs_dp = agreement.mean_abs_dp,
                               .consistency_before = done.before[i].item<double>(),
                               .consistency_after = done.after[i].item<double>()});
    }
  }

  RestorationReport report;

 private:
  const RestorationWork& work_;
  Task task_;
};

// The images and what the network says of the saved files.
ReportSection section_of(const RestorationWork& work, const RestorationReport& report, const Tensor& bytes) {
  Table table{.title = "Measured on the saved files", .columns = {"file", "seed", "agreement", "mean |Δp|", "√(g(x)−y)² sampled", "saved"}};
  GridOptions options{.columns = std::min<std::int64_t>(8, bytes.size(0)), .scale = 2};
  for (const auto& image : report.images) {
    const auto name = std::filesystem::path(image.file).filename().string();
    options.captions.push_back(name);
    table.rows.push_back({name, std::to_string(image.seed), fmt::format("{:.1f} %", 100 * image.agreement),
                          fmt::format("{:.4f}", image.mean_abs_dp), fmt::format("{:.3f}", image.consistency_before),
                          fmt::format("{:.3f}", image.consistency_after)});
  }
  return {.name = work.section, .title = work.title, .command = work.command, .order = 50,
          .text = {fmt::format("{} images, {:.2f} s an image.", report.images.size(), report.seconds_per_image)},
          .tables = {table}, .charts = {}, .pictures = {picture(work.title, grid(bytes, options))}};
}

}  // namespace

RestorationReport restore_and_save(const RestorationModels& models, const RestorationWork& work, Observer& observer) {
  const torch::NoGradGuard no_grad;
  require_writable_folder(work.output);
  const auto g = make_projector(models.classifier, work.guidance);
  Saver saver(work, task_from(models.classifier.outputs.task));
  RestorationPlan plan{.count = std::ssize(work.wishes), .batch = work.sampling.batch, .task = {},
                       .restorer = restorer_config(work.guidance, work.sampling),
                       .finalize = finalize_config(work.guidance)};
  plan.task = [&](std::int64_t first, std::int64_t last) {
    std::vector<std::string> names;
    for (auto i = first; i < last; ++i) names.push_back(work.wishes[static_cast<std::size_t>(i)].file);
    return RestorationTask{.target = work.target(first, last),
                           .guidance = make_guidance(work.guidance, work.controlled),
                           .seeds = seeds_of(work.wishes, first, last),
                           .start = work.start ? work.start(first, last) : SamplerStart{},
                           .on_step = previews(work.on_preview, std::move(names))};
  };
  plan.on_batch = [&](std::int64_t first, const Finalized& done) { saver.save(first, done); };

  const Stopwatch watch;
  Tensor bytes;
  try {
    bytes = restore_all(*models.prior, *g, plan, observer).bytes;
  } catch (const Interrupted&) {
    const auto done = saver.report.images.size();
    throw Interrupted(fmt::format("interrupted: {} of {} images are in {}; not made: {}", done, work.wishes.size(),
                                  work.output, rest_of(work.wishes, done)));
  }
  auto& report = saver.report;
  const auto count = static_cast<double>(report.images.size());
  for (const auto& image : report.images) {
    report.agreement += image.agreement / count;
    report.mean_abs_dp += image.mean_abs_dp / count;
  }
  report.seconds_per_image = watch.seconds() / count;
  if (!work.report.empty()) report.page = add_to_report(work.report, section_of(work, report, bytes)).string();
  return report;
}

}  // namespace spnn::app
