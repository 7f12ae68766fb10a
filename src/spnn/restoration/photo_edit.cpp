#include <spnn/core/errors.h>
#include <spnn/restoration/hold.h>
#include <spnn/restoration/photo_edit.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace spnn {
namespace {

constexpr double kMovedByLess = 0.9;          // the quantile of a place's changes that is the strength of a move
constexpr double kChangedByHalf = 0.5;        // of the most changed: where there is no place, what changed by more belongs to it
constexpr std::int64_t kTimeStep = 100, kLatestTime = 700;   // few different times: images of one time are drawn together

// [B]: 0 where no pixel is in the place.
Tensor strength_of_move(const Tensor& photo, const Tensor& moved, const Tensor& place) {
  const auto change = mean_of_neighbours((moved - photo).abs().mean(1, /*keepdim=*/true));
  const auto inside = place.expand_as(change).gt(0.5);
  auto strength = torch::zeros({photo.size(0)}, photo.options());
  for (std::int64_t i = 0; i < photo.size(0); ++i) {
    const auto there = change[i].masked_select(inside[i]);
    if (there.numel() > 0) strength[i] = there.quantile(kMovedByLess);
  }
  return strength;
}

std::int64_t time_of_noise(const Schedule& schedule, double sigma) {
  std::int64_t t = 0;
  while (t < std::min(kLatestTime, schedule.steps() - 1) && 1 / std::sqrt(schedule.snr(t)) < sigma) ++t;
  return (t + kTimeStep / 2) / kTimeStep * kTimeStep;
}

// Chains of different lengths, which nobody can add up in advance: photos are counted instead.
class OneOfSeveral final : public Observer {
 public:
  explicit OneOfSeveral(Observer& whole) : whole_(whole) {}
  void message(const std::string& text) override { whole_.message(text); }
  bool cancelled() const override { return whole_.cancelled(); }

 private:
  Observer& whole_;
};

// What is known of some rows of a batch.
struct Rows {
  Tensor which;
  Tensor photo, moved, place;
  ImageSeeds seeds;
  Target aim;
};

Rows rows_of_time(const Tensor& which, const Tensor& photo, const Tensor& moved, const Tensor& place, const ImageSeeds& seeds, const Target& aim) {
  std::vector<std::uint64_t> own;
  for (std::int64_t i = 0; i < which.size(0); ++i) own.push_back(seeds.of(which[i].item<std::int64_t>()));
  const auto some = [&](const Tensor& all) { return all.size(0) == 1 && photo.size(0) > 1 ? all : all.index_select(0, which.to(all.device())); };
  const auto aim_of_some = [aim, which, batch = photo.size(0)](const Tensor& y) {
    auto all = torch::zeros({batch, y.size(1)}, y.options());
    all.index_copy_(0, which.to(y.device()), y);
    return aim(all).index_select(0, which.to(y.device()));
  };
  return {.which = which, .photo = some(photo), .moved = some(moved), .place = some(place), .seeds = ImageSeeds(own), .aim = aim_of_some};
}

}  // namespace

Tensor redraw_times(const Schedule& schedule, const Tensor& photo, const Tensor& moved, const Tensor& place, const RedrawConfig& config) {
  const auto strength = strength_of_move(photo, moved, place).to(torch::kCPU, torch::kFloat64);
  auto times = torch::zeros({photo.size(0)}, torch::kInt64);
  for (std::int64_t i = 0; i < photo.size(0); ++i) {
    const double a = strength[i].item<double>();
    if (a > 0) times[i] = config.time ? *config.time : time_of_noise(schedule, config.noise * a * a);
  }
  return times;
}

SpunMove edit_photo(const Denoiser& prior, const BackProjector& g, const Tensor& photo, const Target& aim, const Tensor& place, const PhotoEditConfig& config,
                    const SamplerConfig& sampler, const ImageSeeds& seeds, Observer& observer) {
  OneOfSeveral inner(observer);
  auto out = carried_move(prior, g, photo, aim, config.spin, config.carry, seeds, inner);
  if (config.redraw.noise == 0 && !config.redraw.time) return out;
  const auto where = place.defined() ? place.to(photo.options()) : changed_places(photo, out.x, kChangedByHalf);
  const auto times = redraw_times(prior.schedule(), photo, out.x, where, config.redraw);
  auto in_chain = config.spin;
  in_chain.views = false;   // the prior takes away what a single view prints
  const auto moved = out.x;
  std::set<std::int64_t> different;
  for (std::int64_t i = 0; i < times.size(0); ++i) different.insert(times[i].item<std::int64_t>());
  different.erase(0);
  auto done = times.eq(0).sum().item<std::int64_t>();
  for (const auto time : different) {
    const auto which = times.eq(time).nonzero().flatten();
    const auto rows = rows_of_time(which, photo, moved, where, seeds, aim);
    std::optional<SpunMove> nearest;
    for (const auto& held : {rows.photo, rows.moved}) {
      const auto x = sample(prior, sampler, rows.seeds, inner, holding(spun_correction(g, rows.aim, in_chain), held, rows.place),
                            {.photo = rows.moved, .time = time});
      const auto one = carried_move(prior, g, x, rows.aim, config.spin, config.carry, rows.seeds, inner);
      const auto away = [&](const SpunMove& move) { return (move.x - rows.photo).square().flatten(1).mean(1); };
      if (!nearest) {
        nearest = one;
        continue;
      }
      const auto nearer = away(one) < away(*nearest);
      nearest->x = torch::where(nearer.view({-1, 1, 1, 1}), one.x, nearest->x);
      nearest->y = torch::where(nearer.unsqueeze(1), one.y, nearest->y);
    }
    const auto index = which.to(photo.device());
    out.x = out.x.index_copy(0, index, nearest->x);
    out.y = out.y.index_copy(0, index, nearest->y);
    observer.progress(done += which.size(0), photo.size(0), "photos");
  }
  return out;
}

}  // namespace spnn
