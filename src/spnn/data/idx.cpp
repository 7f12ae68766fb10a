#include <spnn/core/shape.h>
#include <spnn/data/catalogue.h>

#include <zlib.h>

#include <algorithm>
#include <cstring>

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

// The content of a file as a stream of bytes, unpacked where it is gzip: nothing is unpacked that nobody asked for.
class IdxStream {
 public:
  IdxStream(std::span<const std::uint8_t> file, const std::string& name)
      : file_(file), name_(name), zipped_(file.size() > 2 && file[0] == 0x1f && file[1] == 0x8b) {
    if (!zipped_) return;
    require(inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK, name_, "zlib to start", "an error");
    stream_.next_in = const_cast<Bytef*>(file.data());
    stream_.avail_in = static_cast<uInt>(file.size());
  }
  ~IdxStream() {
    if (zipped_) inflateEnd(&stream_);
  }
  IdxStream(const IdxStream&) = delete;
  IdxStream& operator=(const IdxStream&) = delete;

  // How many bytes came; fewer than asked for at the end.
  std::size_t read(std::span<std::uint8_t> into) {
    if (!zipped_) {
      const auto count = std::min(into.size(), file_.size() - at_);
      if (count > 0) std::memcpy(into.data(), file_.data() + at_, count);
      at_ += count;
      return count;
    }
    std::size_t done = 0;
    for (int status = Z_OK; done < into.size() && status == Z_OK;) {
      const auto step = std::min<std::size_t>(into.size() - done, std::size_t{1} << 30);
      stream_.next_out = into.data() + done;
      stream_.avail_out = static_cast<uInt>(step);
      status = inflate(&stream_, Z_NO_FLUSH);
      done += step - stream_.avail_out;
      ended_ = ended_ || status == Z_STREAM_END;
      require(status == Z_OK || status == Z_STREAM_END, name_, "a whole gzip file", "a damaged or truncated one");
    }
    return done;
  }

  // Whether nothing follows; checks gzip's checksum on the way.
  bool at_end() {
    std::uint8_t more = 0;
    if (read({&more, 1}) > 0) return false;
    require(!zipped_ || ended_, name_, "a whole gzip file", "a damaged or truncated one");
    return true;
  }

 private:
  std::span<const std::uint8_t> file_;
  std::string name_;
  bool zipped_, ended_ = false;
  std::size_t at_ = 0;
  z_stream stream_ = {};
};

// gzip packs a thousand equal bytes into one; pictures never by more than this.
constexpr std::int64_t kFreeBytes = 64 << 20, kBytesPerPackedByte = 16, kLargestIdxSide = 4096;

// IDX: two zeros, type (8 = bytes), number of axes, their big-endian lengths, then the data.
Tensor read_idx(const FileSource& source, const std::string& name, std::size_t axes) {
  const auto file = find_idx(source, name);
  require(file.has_value(), source.name(), name + " (or .gz)", "nothing there");
  const FileBytes raw = source.read(*file);
  return parse_idx(raw.span(), *file, axes);
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

Tensor parse_idx(std::span<const std::uint8_t> bytes, const std::string& name, std::size_t axes) {
  IdxStream stream(bytes, name);
  std::vector<std::uint8_t> header(4 + 4 * axes);
  const bool whole = stream.read(header) == header.size();
  require(whole && header[0] == 0 && header[1] == 0 && header[2] == 8 && header[3] == axes, name,
          fmt::format("an IDX file of bytes with {} axes", axes), "another header");
  std::vector<std::int64_t> sizes(axes);
  std::int64_t total = 1;
  const auto most = kFreeBytes + kBytesPerPackedByte * static_cast<std::int64_t>(bytes.size());
  for (std::size_t i = 0; i < axes; ++i) {
    for (std::size_t b = 0; b < 4; ++b) sizes[i] = sizes[i] << 8 | header[4 + 4 * i + b];
    require(i == 0 || (sizes[i] >= 1 && sizes[i] <= kLargestIdxSide), name, fmt::format("sides of 1 to {}", kLargestIdxSide),
            std::to_string(sizes[i]));
    require(sizes[i] == 0 || total <= most / sizes[i], name, fmt::format("at most {} bytes of data", most), "more");
    total *= sizes[i];
  }
  const Tensor data = torch::empty(sizes, torch::kUInt8);
  const auto found = stream.read({data.data_ptr<std::uint8_t>(), static_cast<std::size_t>(total)});
  require(static_cast<std::int64_t>(found) == total && stream.at_end(), name, fmt::format("{} bytes of data", total),
          static_cast<std::int64_t>(found) == total ? "more" : std::to_string(found));
  return data;
}

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
