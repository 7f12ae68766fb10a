#include <spnn/core/shape.h>
#include <spnn/data/catalogue.h>

#include <zlib.h>

#include <numeric>

namespace spnn {
namespace {

constexpr std::int64_t held_out =
    5000;  // the last of the training file, for validation: the test file stays a test
constexpr std::int64_t padded = 32;

const std::vector<std::string> fashion_classes = {
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};

std::optional<std::string> find_idx(const FileSource& source, const std::string& name) {
  const auto plain = source.find(name);
  return plain ? plain : source.find(name + ".gz");
}

std::string gunzip(std::span<const std::uint8_t> file, const std::string& name) {
  z_stream stream = {};
  require(inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK, name, "zlib to start", "an error");
  stream.next_in = const_cast<Bytef*>(file.data());
  stream.avail_in = static_cast<uInt>(file.size());
  std::string content;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::size_t done = content.size(), step = std::size_t{1} << 22;
    content.resize(done + step);
    stream.next_out = reinterpret_cast<Bytef*>(content.data() + done);
    stream.avail_out = static_cast<uInt>(step);
    status = inflate(&stream, Z_NO_FLUSH);
    content.resize(done + step - stream.avail_out);
  }
  inflateEnd(&stream);
  require(status == Z_STREAM_END, name, "a whole gzip file", "a damaged or truncated one");
  return content;
}

// IDX: two zeros, type (8 = bytes), number of axes, their big-endian lengths, then the data.
Tensor read_idx(const FileSource& source, const std::string& name, std::size_t axes) {
  const auto file = find_idx(source, name);
  require(file.has_value(), source.name(), name + " (or .gz)", "nothing there");
  const Bytes raw = source.read(*file);
  const bool zipped = raw.span().size() > 2 && raw.span()[0] == 0x1f && raw.span()[1] == 0x8b;
  const Bytes bytes(zipped ? gunzip(raw.span(), *file) : std::string(raw.text()));
  const auto data = bytes.span();
  const std::size_t header = 4 + 4 * axes;
  require(data.size() >= header && data[0] == 0 && data[1] == 0 && data[2] == 8 && data[3] == axes, *file,
          fmt::format("an IDX file of bytes with {} axes", axes), "another header");
  std::vector<std::int64_t> sizes(axes);
  for (std::size_t i = 0; i < axes; ++i) {
    for (std::size_t b = 0; b < 4; ++b) sizes[i] = sizes[i] << 8 | data[4 + 4 * i + b];
  }
  const auto total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  require(static_cast<std::int64_t>(data.size() - header) == total, *file,
          fmt::format("{} bytes of data", total), std::to_string(data.size() - header));
  return torch::from_blob(const_cast<std::uint8_t*>(data.data() + header), sizes, torch::kUInt8).clone();
}

// Rows [begin, end) of one of the two files, with what they are called.
void append(Dataset& dataset, const FileSource& source, const std::string& stem, std::int64_t begin,
            std::int64_t end, Split split) {
  const Tensor images = read_idx(source, stem + "-images-idx3-ubyte", 3);
  const Tensor labels = read_idx(source, stem + "-labels-idx1-ubyte", 1);
  require(images.size(0) == labels.size(0), source.name(),
          fmt::format("{} labels in {}", images.size(0), stem), std::to_string(labels.size(0)));
  const std::int64_t count = images.size(0);
  begin = begin < 0 ? std::max<std::int64_t>(0, count + begin) : begin;
  end = end <= 0 ? std::max<std::int64_t>(0, count + end) : end;
  const Tensor part = images.slice(0, begin, end).unsqueeze(1),
               classes = labels.slice(0, begin, end).to(torch::kInt64);
  const bool first = !dataset.images.defined();
  dataset.images = first ? part : torch::cat({dataset.images, part});
  dataset.labels = first ? classes : torch::cat({dataset.labels, classes});
  for (std::int64_t i = begin; i < end; ++i) dataset.files.push_back(fmt::format("{}-{:05}", stem, i));
  dataset.splits.resize(dataset.files.size(), split);
}

Tensor pad_and_resize(const Tensor& images, const LoadOptions& options) {
  const std::int64_t height = images.size(2), width = images.size(3);
  Tensor result =
      options.crop ? crop(images, *options.crop, "Fashion-MNIST").contiguous() : images.contiguous();
  if (!options.crop && height < padded && width < padded) {
    const std::int64_t top = (padded - height) / 2, left = (padded - width) / 2;
    result = torch::zeros({images.size(0), 1, padded, padded}, torch::kUInt8);
    result.slice(2, top, top + height).slice(3, left, left + width).copy_(images);
  }
  if (options.size > 0) result = resize(result, options.size, options.size);
  return options.channels == 3 ? result.expand({-1, 3, -1, -1}).contiguous() : result;
}

}  // namespace

bool is_idx_folder(const FileSource& source) {
  return find_idx(source, "train-images-idx3-ubyte") || find_idx(source, "t10k-images-idx3-ubyte");
}

Dataset load_idx(const FileSource& source, const LoadOptions& options) {
  Dataset dataset{.name = "Fashion-MNIST", .attributes = fashion_classes, .multi_label = false};
  dataset.split_rule =
      fmt::format("the set's own test file; the last {} of its training file for validation", held_out);
  const auto wanted = [&](Split split) { return options.split == split || options.split == Split::all; };
  if (wanted(Split::train)) append(dataset, source, "train", 0, -held_out, Split::train);
  if (wanted(Split::val)) append(dataset, source, "train", -held_out, 0, Split::val);
  if (wanted(Split::test)) append(dataset, source, "t10k", 0, 0, Split::test);
  if (options.limit > 0 && dataset.size() > options.limit) {
    dataset.images = dataset.images.slice(0, 0, options.limit);
    dataset.labels = dataset.labels.slice(0, 0, options.limit);
    dataset.files.resize(std::size_t(options.limit));
    dataset.splits.resize(std::size_t(options.limit));
  }
  require(dataset.size() > 0, source.name(), fmt::format("images of the split {}", to_string(options.split)),
          "none");
  const std::int64_t largest = dataset.labels.max().item<std::int64_t>();
  require(largest < static_cast<std::int64_t>(fashion_classes.size()), source.name(),
          "class numbers below 10", std::to_string(largest));
  dataset.images = pad_and_resize(dataset.images, options);
  return dataset;
}

}  // namespace spnn
