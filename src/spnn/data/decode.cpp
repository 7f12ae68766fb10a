#include <spnn/data/catalogue.h>

#include <ATen/Parallel.h>

#include <algorithm>

namespace spnn {
namespace {

namespace fs = std::filesystem;

const fs::path debian_fashion_mnist = "/usr/share/datasets/fashion-mnist";

}  // namespace

Opened open_dataset(const fs::path& path) {
  if (path.extension() == ".csv" && fs::is_regular_file(path)) {
    return {open_source(path.has_parent_path() ? path.parent_path() : "."), path.filename().string()};
  }
  if (path != "fashion-mnist" || fs::exists(path)) return {open_source(path)};
  require(fs::exists(debian_fashion_mnist), "fashion-mnist", "Debian's package dataset-fashion-mnist",
          "nothing installed", "apt install dataset-fashion-mnist, or give a folder with the IDX files");
  return {open_source(debian_fashion_mnist)};
}

std::vector<std::optional<Error>> for_each_entry(const Catalogue& catalogue, bool skip_bad,
                                                 Observer* observer,
                                                 const std::function<void(std::size_t)>& one) {
  const auto count = static_cast<std::int64_t>(catalogue.entries.size());
  std::vector<std::optional<Error>> errors(catalogue.entries.size());
  constexpr std::int64_t chunk = 1024;  // between them: progress, cancel, and an early end
  for (std::int64_t first = 0; first < count; first += chunk) {
    const std::int64_t last = std::min(count, first + chunk);
    at::parallel_for(first, last, /*grain_size=*/8, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        try {
          one(i);
        } catch (const Error& error) {
          errors[i] = Error(fmt::format("{}: {}", catalogue.entries[i].where, error.what()));
        }
      }
    });
    const bool failed = std::any_of(errors.begin() + first, errors.begin() + last,
                                    [](const auto& e) { return e.has_value(); });
    if (failed && !skip_bad) break;
    if (!observer) continue;
    observer->progress(last, count, "images decoded");
    if (observer->cancelled()) throw Interrupted("data: interrupted while images were decoded");
  }
  return errors;
}

}  // namespace spnn
