#include <spnn/diffusion/cascade_denoiser.h>
#include <spnn/restoration/hold.h>
#include <spnn/restoration/photo_edit.h>
#include <spnn/restoration/previews.h>

#include <algorithm>
#include <set>

namespace spnn {
namespace {

constexpr double kMovedByLess = 0.9;          // the quantile of a place's changes that is the strength of a move
constexpr double kLargePlace = 0.3;           // of the picture
constexpr double kChangedByHalf = 0.5;        // of the most changed: where there is no place, what changed by more belongs to it
constexpr std::int64_t kTimeStep = 100, kLatestTime = 700;   // few different times: images of one time are drawn together

struct MoveInPlace {
  double strength = 0, area = 0;   // 0 where no pixel is in the place
};

MoveInPlace move_in_place(const Tensor& change, const Tensor& place) {
  const auto inside = place.gt(0.5);
  const auto there = change.masked_select(inside);
  if (there.numel() == 0) return {};
  return {.strength = there.quantile(kMovedByLess).item<double>(), .area = inside.to(torch::kFloat64).mean().item<double>()};
}

std::int64_t round_time_of(const Schedule& schedule, double sigma) {
  const auto t = std::clamp<std::int64_t>(time_of_noise(schedule, sigma), 0, kLatestTime);
  return (t + kTimeStep / 2) / kTimeStep * kTimeStep;
}

// What is known of some rows of a batch.
struct Rows {
  Tensor which;
  Tensor photo, moved, place;
  ImageSeeds seeds;
  Target aim;
};

Rows rows_of_time(const Tensor& which, const Tensor& photo, const Tensor& moved, const Tensor& place, const ImageSeeds& seeds, const Target& aim) {
  const auto some = [&](const Tensor& all) { return all.size(0) == 1 && photo.size(0) > 1 ? all : all.index_select(0, which.to(all.device())); };
  const auto aim_of_some = [aim, which, batch = photo.size(0)](const Tensor& y) {
    auto all = torch::zeros({batch, y.size(1)}, y.options());
    all.index_copy_(0, which.to(y.device()), y);
    return aim(all).index_select(0, which.to(y.device()));
  };
  return {.which = which, .photo = some(photo), .moved = some(moved), .place = some(place), .seeds = seeds.chosen(which), .aim = aim_of_some};
}

SpunMove nearer_to(const Tensor& photo, const SpunMove& a, const SpunMove& b) {
  const auto away = [&](const SpunMove& move) { return (move.x - photo).square().flatten(1).mean(1); };
  const auto second = away(b) < away(a);
  return {torch::where(second.view({-1, 1, 1, 1}), b.x, a.x), torch::where(second.unsqueeze(1), b.y, a.y)};
}

}  // namespace

Tensor redraw_times(const Schedule& schedule, const Tensor& photo, const Tensor& moved, const Tensor& place, const RedrawConfig& config) {
  const auto change = mean_of_neighbours((moved - photo).abs().mean(1, /*keepdim=*/true)), places = place.expand_as(change);
  auto times = torch::zeros({photo.size(0)}, torch::kInt64);
  for (std::int64_t i = 0; i < photo.size(0); ++i) {
    const auto [a, area] = move_in_place(change[i], places[i]);
    if (a > 0) times[i] = config.time ? *config.time : round_time_of(schedule, config.noise * a * a * std::min(1.0, kLargePlace / area));
  }
  return times;
}

SpunMove edit_photo(const Denoiser& prior, const BackProjector& g, const Tensor& photo, const Target& aim, const Tensor& place, const PhotoEditConfig& config,
                    const SamplerConfig& sampler, const ImageSeeds& seeds, Observer& observer) {
  auto out = carried_move(prior, g, photo, aim, config.spin, config.carry, seeds, observer);
  if (config.redraw.noise == 0 && !config.redraw.time) return out;
  const auto where = place.defined() ? place.to(photo.options()) : changed_places(photo, out.x, kChangedByHalf);
  const auto times = redraw_times(prior.schedule(), photo, out.x, where, config.redraw);
  auto in_chain = config.spin;
  in_chain.views = false;   // the prior takes away what a single view prints
  const auto moved = out.x;
  std::set<std::int64_t> different;
  for (std::int64_t i = 0; i < times.size(0); ++i) different.insert(times[i].item<std::int64_t>());
  different.erase(0);
  const auto steps_from = [&](std::int64_t time) { return evaluations(sampler, prior.schedule(), time); };
  std::int64_t done = 0, all = 0;   // steps
  for (const auto time : different) all += 2 * steps_from(time);
  for (const auto time : different) {
    const auto which = times.eq(time).nonzero().flatten().contiguous();
    const auto rows = rows_of_time(which, photo, moved, where, seeds, aim);
    SomeImages inner(observer, {which.data_ptr<std::int64_t>(), which.data_ptr<std::int64_t>() + which.size(0)});
    inner.all = all;
    const auto drawn_around = [&](const Tensor& held) {
      inner.before = done;
      done += steps_from(time);
      const auto step = with_previews(holding(spun_correction(g, rows.aim, in_chain), held, rows.place), inner);
      const auto x = sample(prior, sampler, rows.seeds, inner, step, {.photo = rows.moved, .time = time});
      return carried_move(prior, g, x, rows.aim, config.spin, config.carry, rows.seeds, inner);
    };
    const auto nearest = nearer_to(rows.photo, drawn_around(rows.photo), drawn_around(rows.moved));
    const auto index = which.to(photo.device());
    out.x = out.x.index_copy(0, index, nearest.x);
    out.y = out.y.index_copy(0, index, nearest.y);
  }
  return out;
}

}  // namespace spnn
