#include <spnn/core/errors.h>
#include <spnn/data/pairs.h>

#include <map>

namespace spnn {
namespace {

constexpr std::size_t held_out_every = 10;

std::map<std::string, std::filesystem::path> images_in(const std::filesystem::path& folder) {
  require(std::filesystem::is_directory(folder), folder.string(), "a folder of images", "none");
  std::map<std::string, std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file() && has_image_extension(entry.path())) found[entry.path().stem().string()] = entry.path();
  }
  return found;
}

Tensor read_as(const std::filesystem::path& file, const Shape& shape) {
  const auto image = read_image(file);
  const auto as_wanted = shape.channels == 1 ? as_grey(image) : as_rgb(image);
  require(Shape{as_wanted.size(0), as_wanted.size(1), as_wanted.size(2)} == shape, file.string(), fmt::format("{} × {} pixels", shape.width, shape.height),
          fmt::format("{} × {}", image.size(2), image.size(1)), "pairs are taken as they are; image_size of the configuration says which size");
  return as_wanted;
}

class Collected {
 public:
  void add(const std::string& name, const Tensor& clean, const Tensor& degraded) {
    names_.push_back(name);
    clean_.push_back(clean);
    degraded_.push_back(degraded);
  }

  Pairs take(const std::string& folder) {
    require(!clean_.empty(), folder, fmt::format("{} pairs of images or more", held_out_every), "fewer");
    Pairs out{.clean = {}, .degraded = torch::stack(degraded_)};
    out.clean.name = folder;
    out.clean.images = torch::stack(clean_);
    out.clean.labels = torch::zeros({out.clean.size(), 0});
    out.clean.files = std::move(names_);
    out.clean.split_rule = fmt::format("every {}th pair held out", held_out_every);
    return out;
  }

 private:
  std::vector<std::string> names_;
  std::vector<Tensor> clean_, degraded_;
};

}  // namespace

SplitPairs load_pairs(const std::filesystem::path& clean, const std::filesystem::path& degraded, const Shape& shape) {
  const auto before = images_in(clean), after = images_in(degraded);
  Collected train, val;
  std::size_t i = 0;
  for (const auto& [name, file] : before) {
    const auto found = after.find(name);
    require(found != after.end(), degraded.string(), fmt::format("a degraded '{}' for every clean image", name), "none");
    (++i % held_out_every == 0 ? val : train).add(name, read_as(file, shape), read_as(found->second, shape));
  }
  return {train.take(clean.string()), val.take(clean.string())};
}

}  // namespace spnn
