#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/data/batches.h>

#include <algorithm>
#include <array>

namespace spnn {
namespace {

std::array<float, 256> unit_table() {
  std::array<float, 256> table;
  const Tensor units = to_unit(torch::arange(256, torch::kUInt8));
  std::copy_n(units.data_ptr<float>(), 256, table.begin());
  return table;
}

// Where each target column (or row) reads from.
std::vector<std::int64_t> sources(std::int64_t length, std::int64_t shift, bool flip) {
  std::vector<std::int64_t> from(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t at = std::clamp<std::int64_t>(i - shift, 0, length - 1);
    from[static_cast<std::size_t>(i)] = flip ? length - 1 - at : at;
  }
  return from;
}

// The 64 bits of a fork's seed are well mixed: enough for one image's coin and shifts, without a generator.
struct Draw {
  Draw(const Augment& augment, const Rng& rng, std::int64_t image) {
    const std::uint64_t bits = rng.fork(static_cast<std::uint64_t>(image)).seed();
    const auto span = static_cast<std::uint64_t>(2 * augment.shift + 1);
    flip = augment.flip && (bits & 1) != 0;
    dx = static_cast<std::int64_t>((bits >> 8 & 0xFFFFFF) % span) - augment.shift;
    dy = static_cast<std::int64_t>((bits >> 32 & 0xFFFFFF) % span) - augment.shift;
  }
  bool flip;
  std::int64_t dx, dy;
};

}  // namespace

BatchOrder::BatchOrder(std::int64_t images, std::int64_t batch, std::uint64_t seed)
    : images_(images), batch_(std::min(images, batch)), rng_(seed) {
  require(images >= 1 && batch >= 1, "BatchOrder", "at least one image and a batch of at least 1",
          fmt::format("{} and {}", images, batch));
}

Tensor BatchOrder::indices(std::int64_t step) const {
  require(step >= 0, "BatchOrder", "a step of 0 or more", std::to_string(step));
  const std::int64_t first = step % steps_per_epoch() * batch_;
  return rng_.fork(static_cast<std::uint64_t>(epoch(step)))
      .permutation(images_)
      .slice(0, first, first + batch_)
      .clone();
}

// One serial pass from bytes to augmented floats: it runs beside the training threads and must not wake an
// OpenMP team.
Batch make_batch(const Dataset& dataset, const Tensor& indices, const Augment& augment, const Rng& rng) {
  static const auto unit = unit_table();
  const Tensor& images = dataset.images;
  require(indices.dim() == 1 && indices.scalar_type() == torch::kInt64, "make_batch",
          "a vector of int64 indices", to_string(indices.sizes()));
  require(augment.shift >= 0, "make_batch", "a shift of 0 or more pixels", std::to_string(augment.shift));
  const std::int64_t count = indices.size(0), channels = images.size(1), height = images.size(2),
                     width = images.size(3);
  Batch batch{.images = torch::empty({count, channels, height, width}, torch::kFloat32), .indices = indices};
  float* out = batch.images.data_ptr<float>();
  const auto* bytes = images.data_ptr<std::uint8_t>();
  const Tensor order = indices.contiguous();
  for (std::int64_t b = 0; b < count; ++b) {
    const std::int64_t image = order.data_ptr<std::int64_t>()[b];
    require(image >= 0 && image < dataset.size(), "make_batch",
            fmt::format("indices below {}", dataset.size()), std::to_string(image));
    const Draw draw(augment, rng, image);
    const auto rows = sources(height, draw.dy, false), columns = sources(width, draw.dx, draw.flip);
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto* plane = bytes + (image * channels + c) * height * width;
      for (const auto row : rows) {
        for (const auto column : columns) *out++ = unit[plane[row * width + column]];
      }
    }
  }
  batch.labels = dataset.labels.index_select(0, indices);
  return batch;
}

Batch make_batch(const Dataset& dataset, const Tensor& indices) {
  return make_batch(dataset, indices, {}, Rng(0));
}

Batch Prefetcher::get(std::int64_t step) {
  Batch batch = prepared_.valid() && next_ == step ? prepared_.get() : make_(step);
  next_ = step + 1;
  prepared_ = std::async(std::launch::async, make_, next_);
  return batch;
}

}  // namespace spnn
