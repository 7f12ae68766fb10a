#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/data/table.h>
#include <spnn/image/image.h>
#include <spnn/jobs/guided_work.h>
#include <spnn/jobs/make_images.h>
#include <spnn/jobs/pictures.h>
#include <spnn/jobs/session.h>

#include <algorithm>

namespace spnn::engine {
namespace {

struct Targets {
  Tensor y;                          // [N, A]
  std::vector<std::string> stems;    // names for the outputs
};

Targets from_images(const ReconstructRequest& wish, const RestorationModels& models, const LoadedModels& loaded, Observer& observer) {
  const auto second = loaded.upscaler();
  const auto shape = loaded.large_prior()->shape();
  std::vector<Tensor> images;
  Targets targets;
  for (const auto& photo : wish.images) {
    images.push_back(open_photo(photo, shape, wish.fit, &observer));
    targets.stems.push_back(as_file_name(name_of(photo)));
  }
  const auto x = to_unit(torch::stack(images)).to(models.device());
  targets.y = models.classifier.net->forward(second ? second->low(x) : x);
  return targets;
}

Targets from_attributes(const ReconstructRequest& wish, const RestorationModels& models) {
  return {outputs_with(models.classifier, wish), {"face"}};
}

std::vector<double> numbers_of(std::vector<std::string> cells, const std::string& where) {
  if (cells.back().empty()) cells.pop_back();   // a comma at the end
  std::vector<double> row;
  for (const auto& cell : cells) {
    try {
      std::size_t used = 0;
      row.push_back(std::stod(cell, &used));
      require(used == cell.size(), where, "numbers", fmt::format("'{}'", cell));
    } catch (const std::logic_error&) {
      fail(where, "numbers separated by commas", fmt::format("'{}'", cell));
    }
  }
  return row;
}

Tensor row_of(const std::vector<double>& numbers, std::int64_t outputs, const std::string& where) {
  require(std::ssize(numbers) == outputs, where, fmt::format("{} numbers", outputs), fmt::format("{}", numbers.size()));
  return torch::tensor(numbers, torch::kFloat64).to(torch::kFloat32);
}

Targets from_rows(const std::vector<Tensor>& rows, const std::string& where) {
  require(!rows.empty(), where, "one row of outputs or more", "none");
  Targets targets{torch::stack(rows), {}};
  for (std::size_t i = 1; i <= rows.size(); ++i) targets.stems.push_back(fmt::format("row-{:04}", i));
  return targets;
}

// Rows of A numbers; a first row with letters is a header and skipped.
Targets from_file(const std::string& file, std::int64_t outputs) {
  const auto letters = [](const std::string& cell) { return cell.find_first_of("ABCDFGHIJKLMNOPQRSTUVWXYZ_") != std::string::npos; };
  std::vector<Tensor> rows;
  for (const auto& [line, cells] : read_rows(read_text(file), Separator::comma)) {
    if (line == 1 && std::ranges::any_of(cells, letters)) continue;
    const auto where = fmt::format("{}:{}", file, line);
    rows.push_back(row_of(numbers_of(cells, where), outputs, where));
  }
  return from_rows(rows, file);
}

Targets targets_of(const ReconstructRequest& wish, const RestorationModels& models, const LoadedModels& loaded, Observer& observer) {
  const auto outputs = models.classifier.net->out_shape().size();
  if (!wish.images.empty()) return from_images(wish, models, loaded, observer);
  if (!wish.logits_file.empty()) return from_file(wish.logits_file, outputs);
  if (wish.logits.empty()) return from_attributes(wish, models);
  std::vector<Tensor> rows;
  for (const auto& row : wish.logits) rows.push_back(row_of(row, outputs, "reconstruct"));
  return from_rows(rows, "reconstruct");
}

}  // namespace

ReconstructResult TorchSession::reconstruct(const ReconstructRequest& wish, Observer& observer) const {
  const torch::NoGradGuard no_grad;
  const auto sources = !wish.images.empty() + !(wish.logits.empty() && wish.logits_file.empty()) + !wish.attributes.empty();
  if (sources != 1) {
    throw UsageError(fmt::format("reconstruct: expected either images, attributes or a file of logits, got {} of these", sources));
  }
  Delivery delivery{.files = wish.files, .section = "reconstruct", .title = "Reconstructions", .ask_judge = wish.ask_judge,
                    .kept = kept_batches(wish.sampling)};
  const auto models = loaded_.restoration();
  delivery.loading = delivery.since.seconds();
  const auto targets = targets_of(wish, models, loaded_, observer);
  name_images(delivery, targets.stems, wish.samples);
  auto work = reconstruction_of(models.classifier, targets.y.repeat_interleave(wish.samples, 0), wish, observer);
  if (const auto second = loaded_.upscaler()) work.task.large = enlargement(second, work.g, wish.sampling, work.task.seeds);
  return make_images(loaded_, models, *work.g, work.config, std::move(work.task), delivery, observer);
}

}  // namespace spnn::engine
