#include <spnn/app/engine_impl.h>
#include <spnn/app/restore_and_save.h>
#include <spnn/core/errors.h>
#include <spnn/image/image.h>

#include <sstream>

namespace spnn::app {
namespace {

struct Targets {
  Tensor y;                          // [N, A]
  std::vector<std::string> stems;    // names for the outputs
};

Targets from_images(const ReconstructJob& job, const RestorationModels& models) {
  std::vector<Tensor> images;
  Targets targets;
  for (const auto& file : job.images) {
    images.push_back(read_for(models.shape(), file, job.fit));
    targets.stems.push_back(std::filesystem::path(file).stem().string());
  }
  targets.y = models.classifier.net->forward(to_unit(torch::stack(images)));
  return targets;
}

Targets from_attributes(const ReconstructJob& job, const RestorationModels& models) {
  const auto changes = attribute_changes(job.attributes, models.names());
  const auto y = expected_outputs(statistics_of(models.classifier), {.changes = changes, .strength = job.strength, .margin = job.margin});
  return {y.reshape({1, -1}).to(torch::kFloat32), {"face"}};
}

std::vector<double> numbers_of(const std::string& line, const std::string& where) {
  std::vector<double> row;
  std::stringstream cells(line);
  for (std::string cell; std::getline(cells, cell, ',');) {
    try {
      std::size_t used = 0;
      row.push_back(std::stod(cell, &used));
      require(cell.find_first_not_of(" \t\r", used) == std::string::npos, where, "numbers", fmt::format("'{}'", cell));
    } catch (const std::logic_error&) {
      fail(where, "numbers separated by commas", fmt::format("'{}'", cell));
    }
  }
  return row;
}

// Rows of A numbers; a first row with letters is a header and skipped.
Targets from_logits(const std::string& file, std::int64_t outputs) {
  std::stringstream lines(read_text(file));
  Targets targets;
  std::vector<Tensor> rows;
  std::int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const bool header = number == 1 && line.find_first_of("ABCDFGHIJKLMNOPQRSTUVWXYZ_") != std::string::npos;
    if (header || line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto where = fmt::format("{}:{}", file, number);
    const auto row = numbers_of(line, where);
    require(std::ssize(row) == outputs, where, fmt::format("{} numbers", outputs), fmt::format("{}", row.size()));
    rows.push_back(torch::tensor(row, torch::kFloat64).to(torch::kFloat32));
    targets.stems.push_back(fmt::format("row-{:04}", rows.size()));
  }
  require(!rows.empty(), file, "one row of outputs or more", "none");
  targets.y = torch::stack(rows);
  return targets;
}

Targets targets_of(const ReconstructJob& job, const RestorationModels& models) {
  if (!job.images.empty()) return from_images(job, models);
  if (!job.logits.empty()) return from_logits(job.logits, models.classifier.net->out_shape().size());
  return from_attributes(job, models);
}

}  // namespace

RestorationReport reconstruct(const ReconstructJob& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const int sources = (job.images.empty() ? 0 : 1) + (job.logits.empty() ? 0 : 1) + (job.attributes.empty() ? 0 : 1);
  if (sources != 1) {
    throw UsageError(fmt::format("reconstruct: expected either images, attributes or a file of logits, got {} of these", sources));
  }
  const auto models = load_models(job.models);
  const auto targets = targets_of(job, models);
  const auto names = output_names(targets.stems, job.samples);

  RestorationWork work{.guidance = for_reconstruction(job.guidance, models.classifier, observer), .sampling = job.sampling, .output = job.output,
                       .on_preview = job.on_preview, .report = job.report, .section = "reconstruct",
                       .title = "Reconstructions", .command = job.command};
  for (std::size_t i = 0; i < names.size(); ++i) {
    work.wishes.push_back({names[i], targets.stems[i / static_cast<std::size_t>(job.samples)], job.seed + i});
  }
  const auto y = targets.y.repeat_interleave(job.samples, 0);
  work.target = [y](std::int64_t first, std::int64_t last) { return fixed(y.slice(0, first, last)); };
  return restore_and_save(models, work, observer);
}

}  // namespace spnn::app
