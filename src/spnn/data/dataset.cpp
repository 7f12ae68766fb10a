#include <spnn/core/shape.h>
#include <spnn/data/catalogue.h>
#include <spnn/data/dataset.h>

#include <cstring>

namespace spnn {
namespace {

namespace fs = std::filesystem;

Tensor prepare(const Entry& entry, const FileSource& source, const Catalogue& catalogue,
               const LoadOptions& options) {
  Tensor image = decode_image(source.read(entry.file).span(), entry.file);
  image = options.channels == 1 ? as_grey(image) : as_rgb(image);
  const auto& box = options.crop ? options.crop : catalogue.crop;
  if (options.size > 0) return fit(image, options.size, box, entry.file);
  return box ? crop(image, *box, entry.file).contiguous() : image;
}

// The first readable image says the shape of all.
Tensor allocate(const FileSource& source, const Catalogue& catalogue, const LoadOptions& options) {
  const auto count = static_cast<std::int64_t>(catalogue.entries.size());
  for (const auto& entry : catalogue.entries) {
    try {
      const Tensor first = prepare(entry, source, catalogue, options);
      return torch::empty({count, first.size(0), first.size(1), first.size(2)}, torch::kUInt8);
    } catch (const Error& error) {
      if (!options.skip_bad) throw Error(fmt::format("{}: {}", entry.where, error.what()));
    }
  }
  fail(source.name(), fmt::format("readable images of the split {}", to_string(options.split)), "none");
}

Dataset decode_catalogue(const FileSource& source, Catalogue catalogue, const LoadOptions& options,
                         Problems& problems, Observer* observer) {
  auto& entries = catalogue.entries;
  if (options.split != Split::all)
    std::erase_if(entries, [&](const Entry& e) { return e.split != options.split; });
  if (options.limit > 0 && entries.size() > std::size_t(options.limit))
    entries.resize(std::size_t(options.limit));
  const Tensor images = allocate(source, catalogue, options);
  const auto shape = images.sizes().slice(1);
  const auto errors = for_each_entry(catalogue, options.skip_bad, observer, [&](std::size_t i) {
    const Tensor image = prepare(entries[i], source, catalogue, options).contiguous();   // a turned photo is a view
    require(image.sizes() == shape, entries[i].file, fmt::format("{} as the first image", to_string(shape)),
            to_string(image.sizes()), "give a --size to bring all to");
    const auto bytes = static_cast<std::size_t>(image.numel());
    std::memcpy(images.data_ptr<std::uint8_t>() + i * bytes, image.data_ptr(), bytes);
  });

  Dataset dataset{
      .name = catalogue.name, .attributes = catalogue.attributes, .split_rule = catalogue.split_rule};
  std::vector<std::int64_t> kept;
  std::vector<float> labels;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (errors[i]) {
      problems.add(*errors[i]);
      continue;
    }
    kept.push_back(static_cast<std::int64_t>(i));
    dataset.files.push_back(entries[i].file);
    dataset.splits.push_back(entries[i].split);
    labels.insert(labels.end(), entries[i].labels.begin(), entries[i].labels.end());
  }
  dataset.images = kept.size() == entries.size() ? images : images.index_select(0, torch::tensor(kept));
  dataset.labels = torch::tensor(labels, torch::kFloat32)
                       .view({dataset.size(), static_cast<std::int64_t>(catalogue.attributes.size())});
  return dataset;
}

}  // namespace

Split split_from(std::string_view name) { return value_named(kSplits, name, "split"); }

std::string_view to_string(Split split) { return name_of(kSplits, split); }

Dataset load_dataset(const fs::path& path, const LoadOptions& options, Observer* observer) {
  require(options.size >= 0 && options.limit >= 0, "load_dataset", "a size and a limit of 0 or more",
          fmt::format("{} and {}", options.size, options.limit));
  require(options.channels == 0 || options.channels == 1 || options.channels == 3, "load_dataset",
          "1 or 3 channels (0: the set's own)", std::to_string(options.channels));
  const auto [source, csv] = open_dataset(path);
  if (is_idx_folder(*source)) return load_idx(*source, options);

  Problems problems(options.skip_bad);
  auto catalogue = read_catalogue(*source, csv, problems);
  Dataset dataset = decode_catalogue(*source, std::move(catalogue), options, problems, observer);
  dataset.skipped = problems.take();
  return dataset;
}

}  // namespace spnn
