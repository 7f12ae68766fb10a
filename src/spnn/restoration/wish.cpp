#include <spnn/core/errors.h>
#include <spnn/restoration/wish.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace spnn {

double typical_output(const LogitStatistics& s, std::int64_t attribute, bool present) {
  const auto right_side = [&](double value) { return present ? std::max(value, 1.0) : std::min(value, -1.0); };
  if (s.exemplars.defined()) {
    const auto values = s.exemplars.select(1, attribute);
    const auto there = values.masked_select(present ? values.gt(0) : values.lt(0));
    if (there.numel() > 0) return right_side(there.to(torch::kFloat64).mean().item<double>());
  }
  const auto mean = s.mean[attribute].item<double>(), sd = std::sqrt(s.covariance[attribute][attribute].item<double>());
  return right_side(mean + (present ? 2 : -2) * sd);
}

Wish::Wish(const LogitStatistics& statistics, const WishConfig& config) : config_(config) {
  const auto outputs = statistics.mean.size(0);
  require(config.amount > 0 && std::isfinite(config.amount), "wish", "an amount above 0", fmt::format("{}", config.amount));
  std::set<std::int64_t> seen;
  for (const auto& [attribute, present, probability, value] : config.wishes) {
    require(attribute >= 0 && attribute < outputs, "wish", fmt::format("an attribute below {}", outputs), std::to_string(attribute));
    require(seen.insert(attribute).second, "wish", "every attribute once", fmt::format("attribute {} twice", attribute));
    require(!probability || (*probability > 0 && *probability < 1), "wish", "a probability between 0 and 1", probability ? fmt::format("{}", *probability) : "");
    const auto asked = value ? *value : probability ? std::log(*probability / (1 - *probability)) : config.amount * typical_output(statistics, attribute, present);
    goals_.push_back(asked);
  }
  for (std::int64_t a = 0; a < outputs; ++a) typical_no_.push_back(typical_output(statistics, a, false));
  for (const auto& group : config.exclusive) {
    const auto on = std::count_if(config.wishes.begin(), config.wishes.end(), [&](const AttributeWish& w) {
      return goals_[static_cast<std::size_t>(&w - config.wishes.data())] > 0 && std::find(group.begin(), group.end(), w.attribute) != group.end();
    });
    require(on <= 1, "wish", "at most one of attributes that exclude each other", fmt::format("{} of them", on));
  }
}

Tensor Wish::controlled() const {
  std::vector<std::int64_t> all;
  for (const auto& wish : config_.wishes) all.push_back(wish.attribute);
  return torch::tensor(all, torch::kInt64);
}

Tensor Wish::operator()(const Tensor& y) const {
  auto out = y.clone();
  const auto wished = [&](std::int64_t a) {
    return std::any_of(config_.wishes.begin(), config_.wishes.end(), [&](const AttributeWish& w) { return w.attribute == a; });
  };
  for (std::size_t i = 0; i < config_.wishes.size(); ++i) {
    const auto& [attribute, present, probability, value] = config_.wishes[i];
    auto column = out.select(1, attribute);
    if (probability || value) {
      column.fill_(goals_[i]);
    } else {
      column.copy_(present ? column.clamp_min(goals_[i]) : column.clamp_max(goals_[i]));
    }
    if (goals_[i] <= 0) continue;
    for (const auto& group : config_.exclusive) {
      if (std::find(group.begin(), group.end(), attribute) == group.end()) continue;
      for (const auto other : group) {
        auto rest = out.select(1, other);
        if (!wished(other)) rest.copy_(torch::where(rest.gt(0), torch::full_like(rest, typical_no_[static_cast<std::size_t>(other)]), rest));
      }
    }
  }
  return out;
}

}  // namespace spnn
