#include <spnn/core/config.h>
#include <spnn/data/catalogue.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

namespace spnn {
namespace {

// Layout: magic, u64 length of a JSON header, the header, labels, images from the next page boundary on. The
// images are mapped, not read: a cache larger than memory works, and opening one takes no time.
constexpr std::string_view magic = "spnn-data-cache-1\n";
constexpr std::size_t page = 4096;

std::size_t images_at(std::size_t header, std::size_t labels) {
  const std::size_t end = magic.size() + 8 + header + labels;
  return (end + page - 1) / page * page;
}

Tensor map_bytes(const std::filesystem::path& file, std::size_t offset,
                 const std::vector<std::int64_t>& sizes) {
  std::size_t length = 1;
  for (const auto size : sizes) length *= static_cast<std::size_t>(size);
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  void* data =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, static_cast<off_t>(offset));
  close(descriptor);
  if (data == MAP_FAILED) return {};
  return torch::from_blob(
      data, sizes, [length](void* p) { munmap(p, length); }, torch::kUInt8);
}

std::optional<Dataset> try_read(const std::filesystem::path& file, const std::string& key) {
  std::ifstream in(file, std::ios::binary);
  std::string start(magic.size(), '\0');
  std::uint64_t length = 0;
  if (!in.read(start.data(), std::streamsize(start.size())) || start != magic) return std::nullopt;
  if (!in.read(reinterpret_cast<char*>(&length), 8) || length > std::filesystem::file_size(file))
    return std::nullopt;
  std::string text(length, '\0');
  in.read(text.data(), std::streamsize(length));
  const Json header = Json::parse(text);
  if (header.at("key") != key) return std::nullopt;

  Dataset dataset{.name = header.at("name"),
                  .attributes = header.at("attributes"),
                  .files = header.at("files"),
                  .split_rule = header.at("split_rule"),
                  .skipped = header.at("skipped")};
  for (const int split : header.at("splits")) dataset.splits.push_back(static_cast<Split>(split));
  const std::vector<std::int64_t> sizes = header.at("sizes");
  const bool agree = sizes.size() == 4 && dataset.files.size() == std::size_t(sizes[0]) &&
                     dataset.splits.size() == std::size_t(sizes[0]);
  if (!agree) return std::nullopt;
  dataset.labels =
      torch::empty({sizes[0], static_cast<std::int64_t>(dataset.attributes.size())}, torch::kFloat32);
  in.read(static_cast<char*>(dataset.labels.data_ptr()), std::streamsize(dataset.labels.nbytes()));
  const std::size_t offset = images_at(length, dataset.labels.nbytes());
  const auto end = offset + static_cast<std::size_t>(sizes[0] * sizes[1] * sizes[2] * sizes[3]);
  if (!in || std::filesystem::file_size(file) != end) return std::nullopt;
  dataset.images = map_bytes(file, offset, sizes);
  return dataset.images.defined() ? std::optional(std::move(dataset)) : std::nullopt;
}

}  // namespace

std::optional<Dataset> read_cache(const std::filesystem::path& file, const std::string& key) {
  try {
    return try_read(file, key);
  } catch (const Json::exception&) {  // a damaged cache is written again
    return std::nullopt;
  }
}

void write_cache(const std::filesystem::path& file, const std::string& key, const Dataset& dataset) {
  std::vector<int> splits;
  for (const Split split : dataset.splits) splits.push_back(static_cast<int>(split));
  const std::string header = Json{{"key", key},
                                  {"name", dataset.name},
                                  {"attributes", dataset.attributes},
                                  {"files", dataset.files},
                                  {"split_rule", dataset.split_rule},
                                  {"splits", splits},
                                  {"skipped", dataset.skipped},
                                  {"sizes", dataset.images.sizes().vec()}}
                                 .dump();
  const Tensor labels = dataset.labels.contiguous(), images = dataset.images.contiguous();
  const auto beside = std::filesystem::path(fmt::format("{}.{}.part", file.string(), getpid()));
  {
    std::ofstream out(beside, std::ios::binary);
    const std::uint64_t length = header.size();
    out << magic;
    out.write(reinterpret_cast<const char*>(&length), 8);
    out << header;
    out.write(static_cast<const char*>(labels.data_ptr()), std::streamsize(labels.nbytes()));
    const std::string gap(images_at(header.size(), labels.nbytes()) - static_cast<std::size_t>(out.tellp()),
                          '\0');
    out << gap;
    out.write(static_cast<const char*>(images.data_ptr()), std::streamsize(images.nbytes()));
    out.flush();
    require(out.good(), file.string(), "room for the cache", "a write that failed");
  }
  std::filesystem::rename(beside, file);
}

}  // namespace spnn
