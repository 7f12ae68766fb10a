#include <spnn/core/errors.h>
#include <spnn/core/nearest_names.h>
#include <spnn/restoration/field.h>

#include <algorithm>
#include <cmath>

namespace spnn {
namespace {

using Run = Tensor (*)(const Problem&, const MethodConfig&, Observer&);

// What runs under each name of the table.
const std::map<std::string, Run>& runs() {
  static const std::map<std::string, Run> all = {
      {"nlbp", field::nlbp},       {"nlbp+", field::nlbp_plus}, {"ddnm", field::ddnm},       {"ddnm+", field::ddnm_plus},
      {"ddrm", field::ddrm},       {"snips", field::snips},     {"dps", field::dps},         {"mcg", field::mcg},
      {"repaint", field::repaint}, {"pigdm", field::pigdm},     {"diffpir", field::diffpir}, {"diffpir-pinv", field::diffpir_pinv},
      {"diffpir-nlbp", field::diffpir_nlbp},                    {"daps", field::daps},       {"red-diff", field::red_diff},
      {"mpgd", field::mpgd},       {"ibp", field::ibp},         {"pinv", field::pinv},
  };
  return all;
}

bool any_method(const MethodInfo&) { return true; }

const MethodSetting& setting_info(std::string_view name) {
  const auto& all = method_settings();
  const auto found = std::ranges::find_if(all, [&](const MethodSetting& s) { return s.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const auto& s : all) names.push_back(s.name);
  throw UsageError(fmt::format("method setting: expected one of {}, got '{}'", fmt::join(names, ", "), name));
}

void require_settings(const MethodConfig& c) {
  for (const auto& [name, value] : c.more) {
    const auto& s = setting_info(name);
    if (value >= s.low && value <= s.high) continue;
    throw UsageError(fmt::format("{}: expected a number from {} to {}, got {}", name, s.low, s.high, value));
  }
  require(c.lambda >= 0 && c.lambda <= 1, "lambda", "a number in [0, 1]", fmt::format("{}", c.lambda));
}

Tensor best_of(Run run, const Problem& p, const MethodConfig& c, Observer& observer) {
  const auto restarts = static_cast<std::uint64_t>(std::llround(c.setting("restarts")));
  auto best = run(p, c, observer);
  if (restarts == 1) return best;
  auto error = p.g.inconsistency(best, p.y);
  for (std::uint64_t k = 1; k < restarts; ++k) {
    const auto tried = run({.prior = p.prior, .g = p.g, .y = p.y, .sigma_y = p.sigma_y, .seeds = p.seeds.forked(k)}, c, observer);
    const auto now = p.g.inconsistency(tried, p.y);
    const auto better = now < error;   // false for NaN
    best = torch::where(broadcast_over(better, best), tried, best);
    error = torch::where(better, now, error);
  }
  return best;
}

}  // namespace

double MethodConfig::setting(std::string_view name) const {
  const auto& info = setting_info(name);
  const auto told = more.find(info.name);
  return told == more.end() ? info.otherwise : told->second;
}

std::vector<std::string> method_names(const std::function<bool(const MethodInfo&)>& which) {
  std::vector<std::string> names;
  for (const auto& info : method_catalogue()) {
    if (which(info)) names.push_back(info.name);
  }
  return names;
}

const MethodInfo& method_info(const std::string& name) {
  const auto& all = method_catalogue();
  const auto found = std::ranges::find_if(all, [&](const MethodInfo& m) { return m.name == name; });
  if (found != all.end()) return *found;
  throw UsageError(fmt::format("method: expected one of {}, got '{}' (did you mean {}?)", fmt::join(method_names(any_method), ", "), name,
                               fmt::join(nearest_names(name, method_names(any_method), 2), ", ")));
}

void require_applies(const MethodInfo& method, const Degradation& g) {
  if (!method.linear_only || g.linear) return;
  throw UsageError(fmt::format("method {}: expected a linear operator, got '{}' ({} take any operator)", method.name, g.name,
                               fmt::join(method_names([](const MethodInfo& m) { return !m.linear_only; }), ", ")));
}

Tensor restore_by(const std::string& method, const Problem& p, const MethodConfig& c, Observer& observer) {
  require_applies(method_info(method), p.g);
  require(p.prior.shape() == p.g.in_shape(), "restore", fmt::format("a prior of {} images, as the operator has", to_string(p.g.in_shape())),
          to_string(p.prior.shape()));
  require_shape(p.y, p.g.g->out_shape(), fmt::format("measurement of {}", p.g.name));
  require(p.y.size(0) == p.seeds.size(), "restore", fmt::format("{} seeds", p.y.size(0)), fmt::format("{}", p.seeds.size()));
  for (const double sigma : p.sigma_y.levels()) require(sigma >= 0, "restore", "a noise of 0 or more", fmt::format("{}", sigma));
  require_settings(c);
  return best_of(runs().at(method), p, c, observer);
}

}  // namespace spnn
