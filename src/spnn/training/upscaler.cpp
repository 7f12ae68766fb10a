#include <spnn/core/json_fields.h>
#include <spnn/training/labelled_batches.h>
#include <spnn/training/upscaler.h>

#include <algorithm>

namespace spnn {
namespace {

constexpr std::uint64_t kUpscalerInit = 1, kUpscalerCrops = 2, kUpscalerDraw = 3, kUpscalerValidation = 4;

// One time from each of B strata of equal probability, in random order.
Tensor upscaler_times(std::int64_t count, std::int64_t steps, double power, const Rng& rng) {
  const auto strata = rng.fork(0).permutation(count).to(torch::kFloat64);
  const auto u = (strata + rng.fork(1).uniform({count}, torch::kFloat64)) / static_cast<double>(count);
  return (u.pow(power) * static_cast<double>(steps)).floor().to(torch::kInt64).clamp(0, steps - 1);
}

}  // namespace

void to_json(Json& json, const UpscalerRecipe& r) {
  json = {{"network", r.network}, {"min_snr", r.min_snr}, {"time_power", r.time_power}, {"flip", r.flip},
          {"sheet_every", r.sheet_every}, {"train", r.train}};
}

void from_json(const Json& json, UpscalerRecipe& r) {
  JsonFields(json, "upscaler recipe")
      .required("network", r.network)
      .optional("min_snr", r.min_snr)
      .optional("time_power", r.time_power)
      .optional("flip", r.flip)
      .optional("sheet_every", r.sheet_every)
      .required("train", r.train)
      .no_others();
  require(r.min_snr >= 0 && r.time_power > 0 && r.sheet_every > 0, "upscaler recipe", "min_snr of 0 or more, time_power and sheet_every above 0",
          fmt::format("{}, {} and {}", r.min_snr, r.time_power, r.sheet_every));
}

UpscalerObjective::UpscalerObjective(UpscalerRecipe recipe, const Dataset& train, const Dataset& val, Milestone milestone)
    : recipe_(std::move(recipe)), train_(train), val_(val), milestone_(std::move(milestone)), schedule_(Schedule::linear()),
      net_(std::make_shared<Upscaler>(recipe_.network)) {
  const auto side = recipe_.network.image_size;
  require_shape(train.images, {3, side, side}, "the upscaler's training images");
  require(crop_size() <= side, "upscaler.unet.image_size", fmt::format("crops of at most {} pixels", side), std::to_string(crop_size()));
  std::vector<float> table;
  for (std::int64_t t = 0; t < schedule_.steps(); ++t) table.push_back(static_cast<float>(schedule_.alpha_bar(t)));
  alpha_bar_ = torch::tensor(table);
  initialise_unet(net_->unet(), Rng(recipe_.train.seed).fork(kUpscalerInit));
  const auto some = torch::linspace(0, double(train.size() - 1), std::min<std::int64_t>(train.size(), 256), torch::kFloat64).to(torch::kInt64);
  net_->measure_scale(to_unit(train.images.index_select(0, some)));
}

std::vector<Tensor> UpscalerObjective::parameters() {
  std::vector<Tensor> out;
  for (const auto& item : net_->named_parameters()) {
    if (!item.key().starts_with("unet.mid.attn_1.")) out.push_back(item.value());
  }
  return out;
}

// Crops that begin at a cell, with flips, as floats: a function of (rng, image). Serial, as it runs beside the training threads.
Batch UpscalerObjective::crops(const Dataset& set, const Tensor& indices, const Rng& rng) const {
  const auto factor = recipe_.network.factor, side = recipe_.network.image_size, crop = crop_size(), cells = (side - crop) / factor + 1;
  Batch batch{.images = torch::empty({indices.size(0), 3, crop, crop}), .labels = torch::empty({indices.size(0), 2}), .indices = indices};
  auto* out = batch.images.data_ptr<float>();
  auto* places = batch.labels.data_ptr<float>();
  for (std::int64_t b = 0; b < indices.size(0); ++b) {
    const auto image = indices.data_ptr<std::int64_t>()[b];
    const auto bits = rng.fork(static_cast<std::uint64_t>(image)).seed();
    const bool flip = recipe_.flip && (bits & 1) != 0;
    const auto top = static_cast<std::int64_t>((bits >> 8 & 0xFFFFFF) % static_cast<std::uint64_t>(cells));
    const auto left = static_cast<std::int64_t>((bits >> 32 & 0xFFFFFF) % static_cast<std::uint64_t>(cells));
    *places++ = static_cast<float>(top), *places++ = static_cast<float>(left);
    for (std::int64_t c = 0; c < 3; ++c) {
      const auto* plane = set.images.data_ptr<std::uint8_t>() + (image * 3 + c) * side * side;
      for (std::int64_t y = 0; y < crop; ++y) {
        const auto* row = plane + (top * factor + y) * side;
        for (std::int64_t x = left * factor; x < left * factor + crop; ++x) {
          *out++ = static_cast<float>(row[flip ? side - 1 - x : x]) * (2.0F / 255.0F) - 1.0F;
        }
      }
    }
  }
  return batch;
}

UpscalerObjective::Draw UpscalerObjective::draw(std::int64_t count, const Rng& rng) const {
  const auto cells = recipe_.network.unet.image_size;
  return {.t = upscaler_times(count, schedule_.steps(), recipe_.time_power, rng.fork(0)), .noise = rng.fork(1).randn({count, net_->detail_channels(), cells, cells}),
          .level = rng.fork(2).uniform({count}).square() * recipe_.network.noise_level, .low_noise = rng.fork(3).randn({count, 3, cells, cells})};
}

Tensor UpscalerObjective::loss_per_crop(const Batch& batch, const Draw& d) const {
  const auto low = net_->low(batch.images), z0 = net_->detail(batch.images);
  const auto a = alpha_bar_.index_select(0, d.t).view({-1, 1, 1, 1});
  const auto z_t = a.sqrt() * z0 + (1 - a).sqrt() * d.noise;
  const auto guide = net_->guide(low + d.level.view({-1, 1, 1, 1}) * d.low_noise, d.level, batch.labels.select(1, 0), batch.labels.select(1, 1));
  const auto [given, wanted] = net_->residual(z0, z_t, guide, d.t, a);
  const auto error = (given - wanted).square().flatten(1).mean(1);
  if (recipe_.min_snr == 0) return error;
  const auto snr = (a / (1 - a)).view({-1});   // for a spread of 1, ‖v̂−v‖² = (SNR+1)‖ẑ0−z0‖²
  return error * snr.clamp_max(recipe_.min_snr) / (snr + 1);
}

Losses UpscalerObjective::losses(std::int64_t step, Share share) {
  const auto count = recipe_.train.batch;
  const auto stream = [seed = recipe_.train.seed](std::int64_t k) { return Rng(seed).fork(static_cast<std::uint64_t>(k) << 8); };
  if (!prefetcher_) {
    const BatchOrder order(train_.size(), count, recipe_.train.seed);
    prefetcher_.emplace([this, order, stream](std::int64_t k) { return crops(train_, order.indices(k), stream(k).fork(kUpscalerCrops)); });
  }
  const auto whole = prefetcher_->get(step);
  const auto d = draw(count, stream(step).fork(kUpscalerDraw));
  const Batch batch{.images = share_of(whole.images, share), .labels = share_of(whole.labels, share), .indices = {}};
  return {{"loss", loss_per_crop(batch, {share_of(d.t, share), share_of(d.noise, share), share_of(d.level, share), share_of(d.low_noise, share)}).mean()}};
}

Validation UpscalerObjective::validate() {
  const auto count = std::min<std::int64_t>(val_.size(), 256), part = std::min<std::int64_t>(count, 32);
  const Rng rng(kUpscalerValidation);   // the same crops, times and noise in every run
  double sum = 0;
  for (std::int64_t i = 0; i < count; i += part) {
    const auto indices = torch::arange(i, std::min(i + part, count), torch::kInt64);
    const auto stream = rng.fork(static_cast<std::uint64_t>(i));
    sum += loss_per_crop(crops(val_, indices, stream.fork(0)), draw(indices.size(0), stream.fork(1))).sum().item<double>();
  }
  const double loss = sum / static_cast<double>(count);
  return {.score = loss, .figures = {{"validation_loss", loss}}};
}

std::map<std::string, std::string> UpscalerObjective::metadata() const {
  return {{"kind", "upscaler"}, {"architecture", Json(recipe_.network).dump()}, {"recipe", Json(recipe_).dump()}};
}

}  // namespace spnn
