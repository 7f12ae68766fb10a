#include <spnn/core/errors.h>
#include <spnn/core/names.h>
#include <spnn/diffusion/chain.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace spnn {
namespace {

constexpr std::uint64_t kStartNoise = 0;   // draw 0 makes x_T; step k of the walk uses draw k + 1

struct Chain {
  std::vector<std::int64_t> times;                                // ascending, only those below the start
  std::vector<std::pair<std::int64_t, std::int64_t>> moves;       // indices into times
};

Chain make_chain(const SamplerConfig& config, const Schedule& schedule, std::int64_t start_time) {
  Chain chain{spaced(schedule, config.steps, config.spacing), {}};
  std::erase_if(chain.times, [&](std::int64_t t) { return t >= start_time; });
  require(!chain.times.empty(), "start time", "one above the first respaced step", std::to_string(start_time));
  chain.moves = walk(static_cast<std::int64_t>(chain.times.size()), config.travel);
  return chain;
}

// x_t' from x_t, t' > t: the forward process over the stretch.
Tensor renoise(const Schedule& schedule, const Tensor& x, const Tensor& noise, std::int64_t from, std::int64_t to) {
  const double ratio = schedule.alpha_bar(to) / schedule.alpha_bar(from);
  return x * std::sqrt(ratio) + noise * std::sqrt(1 - ratio);
}

}  // namespace

SamplerKind sampler_from(std::string_view name) { return value_named(kSamplers, name, "sampler"); }

ImageSeeds::ImageSeeds(std::uint64_t first, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) seeds_.push_back(first + static_cast<std::uint64_t>(i));
}

Tensor ImageSeeds::noise(const Shape& shape, std::uint64_t draw, torch::TensorOptions options) const {
  std::vector<Tensor> images;
  for (const auto seed : seeds_) {
    images.push_back(Rng(seed).fork(draw).randn({shape.channels, shape.height, shape.width}, options));
  }
  return torch::stack(images);
}

ImageSeeds ImageSeeds::slice(std::int64_t from, std::int64_t to) const {
  return ImageSeeds({seeds_.begin() + from, seeds_.begin() + to});
}

ImageSeeds ImageSeeds::chosen(const Tensor& which) const {
  std::vector<std::uint64_t> seeds;
  for (std::int64_t i = 0; i < which.size(0); ++i) seeds.push_back(of(which[i].item<std::int64_t>()));
  return ImageSeeds(std::move(seeds));
}

ImageSeeds ImageSeeds::forked(std::uint64_t stream) const {
  auto seeds = seeds_;
  for (auto& seed : seeds) seed = Rng(seed).fork(stream).seed();
  return ImageSeeds(std::move(seeds));
}

ReverseCoefficients reverse_coefficients(const SamplerConfig& config, const Schedule& schedule, std::int64_t t, std::int64_t s) {
  if (s < 0) return {.c0 = 1, .ct = 0, .sigma = 0};
  const auto p = posterior(schedule, t, s);
  const double at = schedule.alpha_bar(t), as = schedule.alpha_bar(s);
  switch (config.kind) {
    case SamplerKind::ddpm: return {p.c0, p.ct, p.sigma};
    case SamplerKind::reference: return {p.c0, p.ct, std::sqrt(std::clamp(1 - at / as, 0.0, 1.0))};
    case SamplerKind::ddim:
    case SamplerKind::dpm: break;   // its first order is DDIM
  }
  const double sigma = config.kind == SamplerKind::dpm ? 0 : config.eta * p.sigma;
  const double ct = std::sqrt(std::max(0.0, 1 - as - sigma * sigma) / (1 - at));   // ε is (x_t − √ᾱ_t x̂0)/√(1−ᾱ_t)
  return {std::sqrt(as) - ct * std::sqrt(at), ct, sigma};
}

Tensor reverse_step(const SamplerConfig& config, const Schedule& schedule, const Tensor& x0, const Tensor& x_t, const Tensor& noise,
                    std::int64_t t, std::int64_t s) {
  if (s < 0) return x0;
  const auto k = reverse_coefficients(config, schedule, t, s);
  return x0 * k.c0 + x_t * k.ct + noise * k.sigma;
}

Tensor walk_chain(const Shape& shape, const Schedule& schedule, const SamplerConfig& config, const ImageSeeds& seeds,
                  Observer& observer, const ReverseStep& step, const SamplerStart& start) {
  const auto chain = make_chain(config, schedule, start.time);
  const auto options = start.photo.defined() ? start.photo.options() : torch::TensorOptions(torch::kFloat32).device(config.device);
  auto x = seeds.noise(shape, kStartNoise, options);
  if (start.photo.defined()) {
    require_shape(start.photo, shape, "the photo to start from");
    x = renoise(schedule, start.photo, x, -1, chain.times.back());
  }
  const auto total = evaluations(config, schedule, start.time);
  std::int64_t index = 0;
  for (std::size_t k = 0; k < chain.moves.size(); ++k) {
    if (observer.cancelled()) throw Interrupted("sampling was interrupted");
    const auto [from, to] = chain.moves[k];
    const auto t = chain.times[static_cast<std::size_t>(from)];
    const auto s = to < 0 ? -1 : chain.times[static_cast<std::size_t>(to)];
    const auto noise = s < 0 ? Tensor() : seeds.noise(shape, k + 1, options);
    if (to > from) {
      x = renoise(schedule, x, noise, t, s);
      continue;
    }
    x = step({.x_t = x, .noise = noise, .t = t, .s = s, .draw = k + 1, .index = index, .total = total});
    observer.progress(++index, total, "steps");
  }
  return x;
}

Tensor SecondOrder::extrapolated(const Tensor& x0, const ReverseMove& move) {
  const auto half_log_snr = [&](std::int64_t t) { return 0.5 * std::log(schedule_.snr(t)); };
  Tensor out = x0;
  // The last step returns x̂0 itself: what was projected is what is returned.
  if (last_.defined() && last_s_ == move.t && move.s >= 0) {
    const double h = half_log_snr(move.s) - half_log_snr(move.t), before = half_log_snr(move.t) - half_log_snr(last_t_);
    const double half_ratio = 0.5 * h / before;
    out = x0 * (1 + half_ratio) - last_ * half_ratio;
  }
  last_ = x0, last_t_ = move.t, last_s_ = move.s;
  return out;
}

Tensor sample(const Denoiser& prior, const SamplerConfig& config, const ImageSeeds& seeds, Observer& observer,
              const Correction& correction, const SamplerStart& start) {
  const auto& schedule = prior.schedule();
  SecondOrder second(schedule);
  const auto step = [&](const ReverseMove& move) {
    auto x0 = predict_x0(prior, move.x_t, move.t);
    if (config.clamp) x0 = x0.clamp(-1, 1);
    if (correction) x0 = correction({.x0_hat = x0, .x_t = move.x_t, .t = move.t, .index = move.index, .total = move.total});
    if (config.kind == SamplerKind::dpm) return reverse_step(config, schedule, second.extrapolated(x0, move), move.x_t, move.noise, move.t, move.s);
    return reverse_step(config, schedule, x0, move.x_t, move.noise, move.t, move.s);
  };
  return walk_chain(prior.shape(), schedule, config, seeds, observer, step, start);
}

std::int64_t evaluations(const SamplerConfig& config, const Schedule& schedule, std::int64_t start_time) {
  const auto moves = make_chain(config, schedule, start_time).moves;
  return std::ranges::count_if(moves, [](const auto& move) { return move.second < move.first; });
}

}  // namespace spnn
