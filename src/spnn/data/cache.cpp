#include <spnn/core/io.h>
#include <spnn/core/json_text.h>
#include <spnn/data/catalogue.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>


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

constexpr std::size_t kMostValuesOfCache = 100'000'000;   // a name, a split and a file an image

// Sizes that a set can have, and not more bytes than the file.
bool sizes_agree(const std::vector<std::int64_t>& sizes, const Dataset& dataset, std::uint64_t file_size) {
  if (sizes.size() != 4) return false;
  std::uint64_t bytes = 1;
  for (const auto size : sizes) {
    if (size < 0 || (size > 0 && bytes > file_size / static_cast<std::uint64_t>(size))) return false;
    bytes *= static_cast<std::uint64_t>(size);
  }
  const auto count = static_cast<std::size_t>(sizes[0]);
  return dataset.files.size() == count && dataset.splits.size() == count && dataset.attributes.size() <= file_size &&
         count * dataset.attributes.size() <= file_size;
}

std::optional<Dataset> try_read(const std::filesystem::path& file, const std::string& key) {
  if (!std::filesystem::is_regular_file(file)) return std::nullopt;
  const InputFile in(file);
  std::string start(magic.size(), '\0');
  std::uint64_t length = 0, at = magic.size() + sizeof length;
  if (in.size() < at) return std::nullopt;
  in.read(0, std::as_writable_bytes(std::span(start)));
  in.read(magic.size(), std::as_writable_bytes(std::span(&length, 1)));
  if (start != magic || length > in.size() - at) return std::nullopt;
  std::string text(length, '\0');
  in.read(at, std::as_writable_bytes(std::span(text)));
  at += length;
  const Json header = parse_json(text, in.name(), {.values = kMostValuesOfCache});
  if (header.at("key") != key) return std::nullopt;

  Dataset dataset{.name = header.at("name"),
                  .attributes = header.at("attributes"),
                  .files = header.at("files"),
                  .split_rule = header.at("split_rule"),
                  .skipped = header.at("skipped")};
  for (const int split : header.at("splits")) dataset.splits.push_back(static_cast<Split>(split));
  const std::vector<std::int64_t> sizes = header.at("sizes");
  if (!sizes_agree(sizes, dataset, in.size())) return std::nullopt;
  dataset.labels =
      torch::empty({sizes[0], static_cast<std::int64_t>(dataset.attributes.size())}, torch::kFloat32);
  const std::size_t offset = images_at(length, dataset.labels.nbytes());
  if (in.size() != offset + static_cast<std::size_t>(sizes[0] * sizes[1] * sizes[2] * sizes[3])) return std::nullopt;
  in.read(at, {static_cast<std::byte*>(dataset.labels.data_ptr()), dataset.labels.nbytes()});
  dataset.images = map_bytes(file, offset, sizes);
  return dataset.images.defined() ? std::optional(std::move(dataset)) : std::nullopt;
}

}  // namespace

std::optional<Dataset> read_cache(const std::filesystem::path& file, const std::string& key) {
  try {
    return try_read(file, key);
  } catch (const Json::exception&) {  // a damaged cache is written again
    return std::nullopt;
  } catch (const Error&) {
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
  const std::uint64_t length = header.size();
  const std::string gap(images_at(header.size(), labels.nbytes()) - (magic.size() + sizeof length + header.size() + labels.nbytes()), '\0');
  const auto bytes_of_text = [](std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); };
  const auto bytes_of_tensor = [](const Tensor& t) { return Bytes(static_cast<const std::byte*>(t.data_ptr()), t.nbytes()); };
  OutputFile out(file);
  out.write(bytes_of_text(magic));
  out.write(std::as_bytes(std::span(&length, 1)));
  out.write(bytes_of_text(header));
  out.write(bytes_of_tensor(labels));
  out.write(bytes_of_text(gap));
  out.write(bytes_of_tensor(images));
  out.commit();
}

}  // namespace spnn
