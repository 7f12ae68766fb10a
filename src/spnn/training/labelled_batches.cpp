#include <spnn/core/json_fields.h>
#include <spnn/training/labelled_batches.h>

namespace spnn {
namespace {

constexpr std::uint64_t kBatchAugment = 1, kBatchCutout = 2;

// A grey square at a random place of every second image, a function of (rng, image) only.
void cut_out(Tensor& images, const Tensor& indices, std::int64_t side, const Rng& rng) {
  const auto height = images.size(2), width = images.size(3);
  for (std::int64_t b = 0; b < images.size(0); ++b) {
    const auto bits = rng.fork(static_cast<std::uint64_t>(indices[b].item<std::int64_t>())).seed();
    if ((bits & 1) == 0) continue;
    const auto top = static_cast<std::int64_t>((bits >> 8 & 0xFFFF) % static_cast<std::uint64_t>(height - side + 1));
    const auto left = static_cast<std::int64_t>((bits >> 32 & 0xFFFF) % static_cast<std::uint64_t>(width - side + 1));
    images[b].narrow(1, top, side).narrow(2, left, side).zero_();
  }
}

}  // namespace

void to_json(Json& json, const AugmentConfig& c) {
  json = {{"flip", c.flip}, {"shift", c.shift}, {"cutout", c.cutout}};
}

void from_json(const Json& json, AugmentConfig& c) {
  JsonFields(json, "augment").optional("flip", c.flip).optional("shift", c.shift).optional("cutout", c.cutout).no_others();
  require(c.shift >= 0 && c.cutout >= 0, "augment", "a shift and a cutout of 0 or more pixels",
          fmt::format("{} and {}", c.shift, c.cutout));
}

LabelledBatches::LabelledBatches(const Dataset& dataset, const Config& config)
    : dataset_(dataset), config_(config), order_(dataset.size(), config.batch, config.seed) {
  require(order_.batch() == config.batch, "train.batch", fmt::format("at most the {} training images", dataset.size()),
          std::to_string(config.batch));
  const auto side = std::min(dataset.images.size(2), dataset.images.size(3));
  require(config.augment.cutout <= side, "augment.cutout", fmt::format("at most {} pixels", side),
          std::to_string(config.augment.cutout));
}

Batch LabelledBatches::make(std::int64_t step, Share share) const {
  const torch::NoGradGuard no_grad;
  const auto rng = Rng(config_.seed).fork(static_cast<std::uint64_t>(step) << 8);
  const auto indices = share_of(order_.indices(step), share);
  auto batch = make_batch(dataset_, indices, {.flip = config_.augment.flip, .shift = config_.augment.shift}, rng.fork(kBatchAugment));
  if (config_.augment.cutout > 0) cut_out(batch.images, indices, config_.augment.cutout, rng.fork(kBatchCutout));
  return batch;
}

Batch LabelledBatches::get(std::int64_t step, Share share) {
  if (!share_ || share_->rank != share.rank || share_->size != share.size) {
    share_ = share;
    prefetcher_.emplace([this, share](std::int64_t k) { return make(k, share); });
  }
  return prefetcher_->get(step);
}

Tensor share_of(const Tensor& whole, Share share) {
  require(whole.size(0) % share.size == 0, "train.batch", fmt::format("a multiple of the {} processes", share.size),
          std::to_string(whole.size(0)));
  const auto rows = whole.size(0) / share.size;
  return whole.narrow(0, share.rank * rows, rows);
}

}  // namespace spnn
