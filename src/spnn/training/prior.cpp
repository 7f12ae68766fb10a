#include <spnn/core/json_fields.h>
#include <spnn/training/prior.h>

#include <algorithm>

namespace spnn {
namespace {

constexpr std::uint64_t kPriorNoise = 1, kPriorTimes = 2, kPriorAugment = 3, kPriorValidation = 4, kPriorInit = 5;

// One time from each of B equal strata, in random order: the loss varies less than with independent draws.
Tensor stratified_times(std::int64_t count, std::int64_t steps, const Rng& rng) {
  const auto strata = rng.fork(0).permutation(count).to(torch::kFloat64);
  const auto u = (strata + rng.fork(1).uniform({count}, torch::kFloat64)) / static_cast<double>(count);
  return (u * static_cast<double>(steps)).floor().to(torch::kInt64).clamp(0, steps - 1);
}

}  // namespace

void to_json(Json& json, const PriorConfig& c) {
  json = {{"unet", c.unet}, {"parameterization", c.parameterization}, {"min_snr", c.min_snr}, {"flip", c.flip},
          {"sheet_every", c.sheet_every}, {"train", c.train}};
}

void from_json(const Json& json, PriorConfig& c) {
  JsonFields(json, "prior")
      .required("unet", c.unet)
      .optional("parameterization", c.parameterization)
      .optional("min_snr", c.min_snr)
      .optional("flip", c.flip)
      .optional("sheet_every", c.sheet_every)
      .required("train", c.train)
      .no_others();
  parameterization_from(c.parameterization);
  require(c.sheet_every > 0, "prior.sheet_every", "a number above zero", std::to_string(c.sheet_every));
}

PriorObjective::PriorObjective(PriorConfig config, const Dataset& train, const Dataset& val, Milestone milestone)
    : config_(std::move(config)),
      train_(train),
      val_(val),
      milestone_(std::move(milestone)),
      schedule_(Schedule::linear()),
      net_(std::make_shared<UNet>(config_.unet)) {
  require_shape(train.images, {config_.unet.in_channels, config_.unet.image_size, config_.unet.image_size},
                "the prior's training images");
  std::vector<float> table;
  for (std::int64_t t = 0; t < schedule_.steps(); ++t) table.push_back(static_cast<float>(schedule_.alpha_bar(t)));
  alpha_bar_ = torch::tensor(table);
  initialise_unet(*net_, Rng(config_.train.seed).fork(kPriorInit));
}

Tensor PriorObjective::loss_per_image(const Tensor& x0, const Tensor& t, const Tensor& noise) const {
  const auto a = alpha_bar_.index_select(0, t).view({-1, 1, 1, 1});
  const auto x_t = a.sqrt() * x0 + (1 - a).sqrt() * noise;
  const auto out = net_->forward(x_t, t);
  const bool predicts_v = config_.parameterization == "v";
  const auto target = predicts_v ? a.sqrt() * noise - (1 - a).sqrt() * x0 : noise;
  const auto error = (out - target).square().flatten(1).mean(1);
  // ‖v̂−v‖² = (SNR+1)‖x̂0−x0‖² and ‖ε̂−ε‖² = SNR‖x̂0−x0‖²; the weight on x̂0 is min(SNR, γ), or SNR for γ = 0.
  const auto snr = (a / (1 - a)).view({-1});
  const auto on_x0 = config_.min_snr > 0 ? snr.clamp_max(config_.min_snr) : snr;
  return error * on_x0 / (predicts_v ? snr + 1 : snr);
}

Losses PriorObjective::losses(std::int64_t step, Share share) {
  const auto rng = Rng(config_.train.seed).fork(static_cast<std::uint64_t>(step) << 8);
  const auto indices = BatchOrder(train_.size(), config_.train.batch, config_.train.seed).indices(step);
  const auto batch = indices.size(0);   // all of a set that is smaller
  const auto x0 = make_batch(train_, indices, {.flip = config_.flip}, rng.fork(kPriorAugment)).images;
  const auto t = stratified_times(batch, schedule_.steps(), rng.fork(kPriorTimes));
  const auto noise = rng.fork(kPriorNoise).randn(x0.sizes());
  const auto from = batch * share.rank / share.size, to = batch * (share.rank + 1) / share.size;
  return {{"loss", loss_per_image(x0.slice(0, from, to), t.slice(0, from, to), noise.slice(0, from, to)).mean()}};
}

Validation PriorObjective::validate() {
  const auto count = std::min<std::int64_t>(val_.size(), 512);
  const auto rng = Rng(kPriorValidation);   // the same images, times and noise in every run
  const auto x0 = to_unit(val_.images.slice(0, 0, count));
  const auto t = stratified_times(count, schedule_.steps(), rng.fork(0));
  const auto noise = rng.fork(1).randn(x0.sizes());
  double sum = 0;
  for (std::int64_t i = 0; i < count; i += 64) {
    const auto end = std::min(i + 64, count);
    sum += loss_per_image(x0.slice(0, i, end), t.slice(0, i, end), noise.slice(0, i, end)).sum().item<double>();
  }
  const double loss = sum / static_cast<double>(count);
  return {.score = loss, .figures = {{"validation_loss", loss}}};
}

void PriorObjective::milestone(std::int64_t step) {
  if (milestone_) milestone_(UNetDenoiser(net_, schedule_, parameterization_from(config_.parameterization)), step);
}

std::map<std::string, std::string> PriorObjective::metadata() const {
  return {{"kind", "ddpm-unet"},
          {"architecture", Json(config_.unet).dump()},
          {"parameterization", config_.parameterization},
          {"schedule", schedule_.to_json().dump()},
          {"recipe", Json(config_).dump()}};
}

}  // namespace spnn
