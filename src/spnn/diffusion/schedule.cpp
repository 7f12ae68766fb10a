#include <spnn/core/errors.h>
#include <spnn/core/json_fields.h>
#include <spnn/diffusion/schedule.h>

#include <algorithm>
#include <cmath>

namespace spnn {

Schedule Schedule::linear(double first, double last, std::int64_t steps) {
  require(steps >= 2 && first > 0 && last < 1 && first <= last, "schedule", "0 < first ≤ last < 1 and two steps or more",
          fmt::format("{} to {} in {}", first, last, steps));
  Schedule schedule;
  schedule.first_ = first;
  schedule.last_ = last;
  double product = 1;
  for (std::int64_t t = 0; t < steps; ++t) {
    product *= 1 - (first + (last - first) * static_cast<double>(t) / static_cast<double>(steps - 1));
    schedule.alpha_bar_.push_back(product);
  }
  return schedule;
}

Schedule Schedule::from_json(const Json& said, const std::string& where) {
  std::string kind = "linear";
  double first = 1e-4, last = 2e-2;
  std::int64_t steps = 1000;
  JsonFields(said, where + ": schedule").required("kind", kind).required("first", first).required("last", last).required("steps", steps).no_others();
  require(kind == "linear", where + ": schedule.kind", "linear", fmt::format("'{}'", kind));
  require(steps <= 100000, where + ": schedule.steps", "100000 or fewer", std::to_string(steps));
  return linear(first, last, steps);
}

Json Schedule::to_json() const { return {{"kind", "linear"}, {"first", first_}, {"last", last_}, {"steps", steps()}}; }

std::vector<std::int64_t> respaced(std::int64_t train_steps, std::int64_t count) {
  require(count >= 1 && count <= train_steps, "steps", fmt::format("a number from 1 to {}", train_steps),
          std::to_string(count));
  std::vector<std::int64_t> times;
  for (std::int64_t k = 0; k < count; ++k) times.push_back(k * train_steps / count);
  return times;
}

Spacing spacing_from(std::string_view name) { return value_named(kSpacings, name, "spacing"); }

namespace {

// What grows by equal steps from the cleanest time to the noisiest.
double spacing_coordinate(const Schedule& schedule, std::int64_t t, Spacing spacing) {
  switch (spacing) {
    case Spacing::uniform: return static_cast<double>(t);
    case Spacing::quadratic: return std::sqrt(static_cast<double>(t));
    case Spacing::log_snr: return -std::log(schedule.snr(t));
    case Spacing::rho7: return std::pow(1 / schedule.snr(t), 1.0 / 14);
  }
  return 0;
}

}  // namespace

std::vector<std::int64_t> spaced(const Schedule& schedule, std::int64_t count, Spacing spacing) {
  const auto total = schedule.steps();
  if (spacing == Spacing::uniform || count < 2) return respaced(total, count);
  require(count <= total, "steps", fmt::format("a number from 1 to {}", total), std::to_string(count));
  const double low = spacing_coordinate(schedule, 0, spacing), high = spacing_coordinate(schedule, total - 1, spacing);
  std::vector<std::int64_t> times;
  for (std::int64_t k = 0, t = 0; k < count; ++k) {
    const double at = low + (high - low) * static_cast<double>(k) / static_cast<double>(count - 1);
    while (t + 1 < total && spacing_coordinate(schedule, t, spacing) < at) ++t;
    if (t > 0 && at - spacing_coordinate(schedule, t - 1, spacing) < spacing_coordinate(schedule, t, spacing) - at) --t;
    // Different times, with room for those that follow.
    t = std::clamp(t, times.empty() ? 0 : times.back() + 1, total - count + k);
    times.push_back(t);
  }
  return times;
}

Posterior posterior(const Schedule& schedule, std::int64_t t, std::int64_t s) {
  const double at = schedule.alpha_bar(t), as = schedule.alpha_bar(s);
  const double alpha = at / as;   // of the one long step from s to t
  return {.c0 = std::sqrt(as) * (1 - alpha) / (1 - at),
          .ct = std::sqrt(alpha) * (1 - as) / (1 - at),
          .sigma = std::sqrt((1 - as) / (1 - at) * (1 - alpha))};
}

std::vector<std::pair<std::int64_t, std::int64_t>> walk(std::int64_t count, TimeTravel travel) {
  require(travel.length >= 1 && travel.repeat >= 1, "time travel", "a length and a repeat of 1 or more",
          fmt::format("length {}, repeat {}", travel.length, travel.repeat));
  // A jump may start at every multiple of `length` that still leaves room to climb back.
  std::vector<std::int64_t> jumps(static_cast<std::size_t>(count), 0);
  for (std::int64_t k = 0; k + travel.length < count; k += travel.length) {
    jumps[static_cast<std::size_t>(k)] = travel.repeat - 1;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t at = count - 1; at >= 0; --at) {
    if (auto& left = jumps[static_cast<std::size_t>(at)]; left > 0) {
      --left;
      pairs.emplace_back(at, at + travel.length);
      at += travel.length;
    }
    pairs.emplace_back(at, at - 1);
  }
  return pairs;
}

}  // namespace spnn
