#include <spnn/core/errors.h>
#include <spnn/diffusion/schedule.h>

#include <cmath>

namespace spnn {

Schedule Schedule::linear(double first, double last, std::int64_t steps) {
  require(steps >= 2 && first > 0 && last < 1 && first <= last, "schedule", "0 < first ≤ last < 1 and two steps or more",
          fmt::format("{} to {} in {}", first, last, steps));
  Schedule schedule;
  double product = 1;
  for (std::int64_t t = 0; t < steps; ++t) {
    product *= 1 - (first + (last - first) * static_cast<double>(t) / static_cast<double>(steps - 1));
    schedule.alpha_bar_.push_back(product);
  }
  return schedule;
}

std::vector<std::int64_t> respaced(std::int64_t train_steps, std::int64_t count) {
  require(count >= 1 && count <= train_steps, "steps", fmt::format("a number from 1 to {}", train_steps),
          std::to_string(count));
  std::vector<std::int64_t> times;
  for (std::int64_t k = 0; k < count; ++k) times.push_back(k * train_steps / count);
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
