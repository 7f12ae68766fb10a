#include <spnn/core/shape.h>
#include <spnn/data/catalogue.h>
#include <spnn/data/dataset.h>

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace spnn {
namespace {

namespace fs = std::filesystem;

const fs::path debian_fashion_mnist = "/usr/share/datasets/fashion-mnist";

Tensor prepare(const Entry& entry, const FileSource& source, const Catalogue& catalogue, const LoadOptions& options) {
  Tensor image = decode_image(source.read(entry.file).span(), entry.file);
  image = options.channels == 1 ? as_grey(image) : as_rgb(image);
  const auto& box = options.crop ? options.crop : catalogue.crop;
  if (options.size > 0) return fit(image, options.size, box, entry.file);
  return box ? crop(image, *box, entry.file).contiguous() : image;
}

// Decodes all entries into one tensor, from all threads. Which error is reported does not depend on their timing.
class Decoder {
 public:
  Decoder(const FileSource& source, const Catalogue& catalogue, const LoadOptions& options)
      : source_(source), catalogue_(catalogue), options_(options), problem_(catalogue.entries.size()) {}

  Tensor decode(Observer* observer) {
    const auto count = static_cast<std::int64_t>(catalogue_.entries.size());
    allocate();
    constexpr std::int64_t chunk = 1024;
    for (std::int64_t first = 0; first < count && images_.defined(); first += chunk) {
      const std::int64_t last = std::min(count, first + chunk);
      at::parallel_for(first, last, /*grain_size=*/8, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) one(i);
      });
      if (!options_.skip_bad && has_problem(first, last)) break;
      if (!observer) continue;
      observer->progress(last, count, "images decoded");
      if (observer->cancelled()) throw Interrupted("data: interrupted while images were decoded");
    }
    return images_;
  }

  // Where decoding failed, in the order of the entries.
  const std::vector<std::optional<Error>>& problems() const { return problem_; }

 private:
  // The first readable image says the shape of all.
  void allocate() {
    for (std::size_t i = 0; i < problem_.size() && !images_.defined(); ++i) {
      try {
        const Tensor first = prepare(catalogue_.entries[i], source_, catalogue_, options_);
        images_ = torch::empty({static_cast<std::int64_t>(problem_.size()), first.size(0), first.size(1), first.size(2)},
                               torch::kUInt8);
      } catch (const Error& error) {
        problem_[i] = error;
        if (!options_.skip_bad) return;
      }
    }
  }

  void one(std::int64_t i) {
    const auto& entry = catalogue_.entries[static_cast<std::size_t>(i)];
    try {
      const Tensor image = prepare(entry, source_, catalogue_, options_);
      const auto expected = images_.sizes().slice(1);
      require(image.sizes() == expected, entry.file, fmt::format("{} as the other images", to_string(expected)),
              to_string(image.sizes()), "give a size to resize to");
      std::memcpy(images_[i].data_ptr(), image.data_ptr(), static_cast<std::size_t>(image.numel()));
    } catch (const Error& error) {
      problem_[static_cast<std::size_t>(i)] = Error(fmt::format("{}: {}", entry.where, error.what()));
    }
  }

  bool has_problem(std::int64_t first, std::int64_t last) const {
    return std::any_of(problem_.begin() + first, problem_.begin() + last, [](const auto& p) { return p.has_value(); });
  }

  const FileSource& source_;
  const Catalogue& catalogue_;
  const LoadOptions& options_;
  std::vector<std::optional<Error>> problem_;
  Tensor images_;
};

Dataset decode_catalogue(const FileSource& source, Catalogue catalogue, const LoadOptions& options, Problems& problems,
                         Observer* observer) {
  auto& entries = catalogue.entries;
  if (options.split != Split::all) std::erase_if(entries, [&](const Entry& e) { return e.split != options.split; });
  if (options.limit > 0 && entries.size() > std::size_t(options.limit)) entries.resize(std::size_t(options.limit));
  Decoder decoder(source, catalogue, options);
  const Tensor images = decoder.decode(observer);

  Dataset dataset{.name = catalogue.name, .attributes = catalogue.attributes, .split_rule = catalogue.split_rule};
  std::vector<std::int64_t> kept;
  std::vector<float> labels;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (const auto& problem = decoder.problems()[i]) {
      problems.add(*problem);
      continue;
    }
    kept.push_back(static_cast<std::int64_t>(i));
    dataset.files.push_back(entries[i].file);
    dataset.splits.push_back(entries[i].split);
    labels.insert(labels.end(), entries[i].labels.begin(), entries[i].labels.end());
  }
  require(!kept.empty(), source.name(), fmt::format("images of the split {}", to_string(options.split)), "none");
  dataset.images = kept.size() == entries.size() ? images : images.index_select(0, torch::tensor(kept));
  dataset.labels = torch::tensor(labels, torch::kFloat32)
                       .view({dataset.size(), static_cast<std::int64_t>(catalogue.attributes.size())});
  return dataset;
}

// Everything the decoded bytes depend on.
std::string cache_key(const FileSource& source, const std::string& csv, const LoadOptions& options) {
  const Box box = options.crop.value_or(Box{});
  return fmt::format("{} | {} | {} | split {} size {} channels {} crop {},{},{},{} skip {} limit {}",
                     fs::absolute(source.name()).lexically_normal().string(), source.fingerprint(), csv,
                     to_string(options.split), options.size, options.channels, box.left, box.top, box.right, box.bottom,
                     options.skip_bad, options.limit);
}

}  // namespace

Split split_from(std::string_view name) {
  for (const Split split : {Split::train, Split::val, Split::test, Split::all}) {
    if (name == to_string(split)) return split;
  }
  fail("split", "train, val, test or all", fmt::format("'{}'", name));
}

std::string_view to_string(Split split) {
  constexpr std::string_view names[] = {"train", "val", "test", "all"};
  return names[static_cast<std::size_t>(split)];
}

Dataset load_dataset(const fs::path& path, const LoadOptions& options, Observer* observer) {
  require(options.size >= 0 && options.limit >= 0, "load_dataset", "a size and a limit of 0 or more",
          fmt::format("{} and {}", options.size, options.limit));
  require(options.channels == 0 || options.channels == 1 || options.channels == 3, "load_dataset",
          "1 or 3 channels (0: the set's own)", std::to_string(options.channels));
  const bool is_csv = path.extension() == ".csv" && fs::is_regular_file(path);
  const bool packaged = path == "fashion-mnist" && !fs::exists(path);
  require(!packaged || fs::exists(debian_fashion_mnist), "fashion-mnist", "Debian's package dataset-fashion-mnist",
          "nothing installed", "apt install dataset-fashion-mnist, or give a folder with the IDX files");
  const auto root = packaged ? debian_fashion_mnist : !is_csv ? path : path.has_parent_path() ? path.parent_path() : ".";
  const auto source = open_source(root);
  if (is_idx_folder(*source)) return load_idx(*source, options);

  const std::string csv = is_csv ? path.filename().string() : "";
  const std::string key = options.cache_file.empty() ? "" : cache_key(*source, csv, options);
  if (!key.empty()) {
    if (auto cached = read_cache(options.cache_file, key)) return std::move(*cached);
  }
  Problems problems(options.skip_bad);
  auto catalogue = read_catalogue(*source, csv, problems);
  Dataset dataset = decode_catalogue(*source, std::move(catalogue), options, problems, observer);
  dataset.skipped = problems.take();
  if (!key.empty()) write_cache(options.cache_file, key, dataset);
  return dataset;
}

}  // namespace spnn
