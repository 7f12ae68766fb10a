#include <spnn/data/catalogue.h>
#include <spnn/data/summary.h>

#include <algorithm>

namespace spnn {
namespace {

void add_rates(Summary& summary) {
  for (auto& part : summary.parts) {
    for (auto& rate : part.rates) rate /= std::max<double>(1, double(part.images));
  }
}

Summary summarize_idx(const FileSource& source) {
  const Dataset dataset = load_idx(source, {.split = Split::all});
  Summary summary{.name = dataset.name,
                  .split_rule = dataset.split_rule,
                  .attributes = dataset.attributes,
                  .multi_label = false};
  summary.smallest = summary.largest = {dataset.images.size(2), dataset.images.size(3)};
  summary.channels = dataset.images.size(1);
  for (auto& part : summary.parts) part.rates.resize(dataset.attributes.size());
  const auto* label = dataset.labels.data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < dataset.splits.size(); ++i) {
    auto& part = summary.parts[static_cast<std::size_t>(dataset.splits[i])];
    ++part.images;
    part.rates[static_cast<std::size_t>(label[i])] += 1;
  }
  add_rates(summary);
  return summary;
}

}  // namespace

Summary summarize(const std::filesystem::path& path, bool skip_bad, Observer* observer) {
  const auto [source, csv] = open_dataset(path);
  if (is_idx_folder(*source)) return summarize_idx(*source);
  Problems problems(skip_bad);
  const auto catalogue = read_catalogue(*source, csv, problems);
  const auto& entries = catalogue.entries;
  std::vector<std::array<std::int64_t, 2>> sizes(entries.size());
  const auto errors = for_each_entry(catalogue, skip_bad, observer, [&](std::size_t i) {
    const Tensor image = decode_image(source->read(entries[i].file).span(), entries[i].file);
    sizes[i] = {image.size(1), image.size(2)};
  });

  Summary summary{
      .name = catalogue.name, .split_rule = catalogue.split_rule, .attributes = catalogue.attributes};
  for (auto& part : summary.parts) part.rates.resize(catalogue.attributes.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (errors[i]) {
      problems.add(*errors[i]);
      continue;
    }
    const bool first = summary.images() == 0;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      summary.smallest[axis] = first ? sizes[i][axis] : std::min(summary.smallest[axis], sizes[i][axis]);
      summary.largest[axis] = std::max(summary.largest[axis], sizes[i][axis]);
    }
    auto& part = summary.parts[static_cast<std::size_t>(entries[i].split)];
    ++part.images;
    for (std::size_t a = 0; a < part.rates.size(); ++a) part.rates[a] += entries[i].labels[a];
  }
  require(summary.images() > 0, source->name(), "at least one readable image", "none");
  add_rates(summary);
  summary.skipped = problems.take();
  return summary;
}

}  // namespace spnn
