#include <spnn/core/errors.h>
#include <spnn/core/names.h>
#include <spnn/core/shape.h>
#include <spnn/restoration/target.h>

#include <ATen/ops/linalg_solve.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace spnn {
namespace {

void require_valid(const LogitStatistics& statistics, const AttributeTargetConfig& config) {
  const auto outputs = statistics.mean.numel();
  require(statistics.covariance.dim() == 2 && statistics.covariance.size(0) == outputs &&
              statistics.covariance.size(1) == outputs,
          "attribute statistics", fmt::format("a covariance of {0} × {0}", outputs),
          to_string(statistics.covariance.sizes()));
  require(!config.changes.empty(), "attributes", "one or more to change", "none");
  require(config.strength >= 0 && std::isfinite(config.strength), "strength", "a number of standard deviations, 0 or more",
          fmt::format("{}", config.strength));
  std::set<std::int64_t> seen;
  for (const auto& change : config.changes) {
    require(change.attribute >= 0 && change.attribute < outputs, "attribute",
            fmt::format("a number from 0 to {}", outputs - 1), std::to_string(change.attribute));
    require(seen.insert(change.attribute).second, "attributes", "each one once",
            fmt::format("number {} twice", change.attribute));
  }
}

double goal_of(const LogitStatistics& statistics, const AttributeTargetConfig& config, const AttributeChange& change) {
  const double mean = statistics.mean[change.attribute].item<double>();
  const double sigma = std::sqrt(statistics.covariance[change.attribute][change.attribute].item<double>());
  const double side = change.present ? 1 : -1;
  return side * std::max(side * mean + config.strength * sigma, config.margin);
}

Tensor numbers(const std::vector<std::int64_t>& values) { return torch::tensor(values, torch::kInt64); }

// [S, A]: rows are ∂y_target/∂goal. Identity on the controlled entries; the others follow those of `following`.
Tensor response(const Tensor& covariance, const Tensor& controlled, const std::vector<std::int64_t>& following) {
  auto out = torch::zeros({controlled.numel(), covariance.size(0)}, torch::kFloat64);
  if (!following.empty()) {
    std::vector<std::int64_t> columns;
    for (const auto place : following) columns.push_back(controlled[place].item<std::int64_t>());
    const auto set = numbers(columns);
    const auto of_set = covariance.index_select(0, set);                                     // Σ_S,·
    const auto gain = at::linalg_solve(of_set.index_select(1, set), of_set);                 // Σ_SS⁻¹ Σ_S,·
    out.index_copy_(0, numbers(following), gain);
  }
  out.index_fill_(1, controlled, 0);
  for (std::int64_t i = 0; i < controlled.numel(); ++i) out[i][controlled[i].item<std::int64_t>()] = 1;
  return out;
}

// Rows that have every wanted attribute, by `margin` if there are enough of them. Undefined: none.
Tensor fitting_exemplars(const Tensor& all, const AttributeTargetConfig& config) {
  constexpr std::int64_t enough = 8;
  if (!all.defined()) return {};
  const double most = std::max(config.margin, 0.0);   // on the wrong side nobody has the attribute
  for (const double margin : {most, 0.5 * most, 0.0}) {
    auto fits = torch::ones({all.size(0)}, torch::kBool);
    for (const auto& change : config.changes) {
      fits = fits & ((change.present ? 1 : -1) * all.select(1, change.attribute) > margin);
    }
    const auto rows = fits.nonzero().flatten();
    if (rows.numel() >= enough || (margin == 0 && rows.numel() > 0)) return all.index_select(0, rows);
  }
  return {};
}

}  // namespace

Target fixed(Tensor y) {
  return [y = std::move(y)](const Tensor& y_cur) {
    require(y.numel() == y_cur.numel(), "target", fmt::format("outputs {}", to_string(y_cur.sizes())),
            to_string(y.sizes()));
    return y.reshape(y_cur.sizes()).to(y_cur.options());
  };
}

double strongest_correlation(const LogitStatistics& statistics, std::int64_t n) {
  const auto sigma = statistics.covariance.to(torch::kFloat64).diagonal().sqrt();
  auto correlation = statistics.covariance[n].to(torch::kFloat64) / (sigma * sigma[n]);
  correlation[n] = 0;
  return correlation.abs().max().item<double>();
}

Strategy strategy_from(std::string_view name) { return value_named(kStrategies, name, "strategy"); }
std::string to_string(Strategy strategy) { return std::string(name_of(kStrategies, strategy)); }

AttributeTarget::AttributeTarget(const LogitStatistics& statistics, const AttributeTargetConfig& config) {
  require_valid(statistics, config);
  std::vector<std::int64_t> controlled, following;
  std::vector<double> goal;
  const auto wants = [](Strategy s) { return [s](const AttributeChange& c) { return c.strategy == s; }; };
  const bool asked = std::ranges::any_of(config.changes, wants(Strategy::exemplar));
  if (asked || std::ranges::all_of(config.changes, wants(Strategy::automatic))) {
    exemplars_ = fitting_exemplars(statistics.exemplars, config);
    require(!asked || std::ranges::none_of(config.changes, [](const AttributeChange& c) {
              return c.strategy != Strategy::exemplar && c.strategy != Strategy::automatic;
            }), "strategy", "exemplar for all attributes or for none: it sets every output", "a mixture");
    require(exemplars_.defined() || !asked, "exemplar", "training outputs in the model that have all these attributes", "none");
  }
  for (const auto& change : config.changes) {
    auto strategy = exemplars_.defined() ? Strategy::exemplar : change.strategy;
    if (strategy == Strategy::automatic || strategy == Strategy::correlated) {
      const bool follows = strongest_correlation(statistics, change.attribute) >= config.correlated;
      strategy = follows ? Strategy::covariance : Strategy::sparse;
    }
    if (strategy == Strategy::covariance) following.push_back(static_cast<std::int64_t>(controlled.size()));
    strategies_.push_back(strategy);
    controlled.push_back(change.attribute);
    goal.push_back(goal_of(statistics, config, change));
  }
  controlled_ = numbers(controlled);
  goal_ = torch::tensor(goal, torch::kFloat64);
  response_ = response(statistics.covariance.to(torch::kFloat64), controlled_, following);
  if (!exemplars_.defined()) return;
  goal_ = exemplars_.index_select(1, controlled_).mean(0).to(torch::kFloat64);
  others_ = torch::ones_like(statistics.mean).index_fill(0, controlled_, 0);
}

Tensor AttributeTarget::operator()(const Tensor& y_cur) const {
  const auto y = y_cur.reshape({y_cur.size(0), -1});
  if (exemplars_.defined()) {
    const auto bank = exemplars_.to(y.options()), weights = others_.to(y.options());
    // Nearest in probabilities: what counts is who changes sides, not how loudly a sure attribute is said.
    const auto nearest = torch::cdist(torch::sigmoid(y) * weights, torch::sigmoid(bank) * weights).argmin(1);
    return bank.index_select(0, nearest).reshape(y_cur.sizes());
  }
  const auto change = goal_.to(y.options()) - y.index_select(1, controlled_.to(y.device()));
  return (y + change.matmul(response_.to(y.options()))).reshape(y_cur.sizes());
}

Tensor expected_outputs(const LogitStatistics& statistics, AttributeTargetConfig config) {
  for (auto& change : config.changes) {
    if (change.strategy == Strategy::automatic && !statistics.exemplars.defined()) change.strategy = Strategy::covariance;
  }
  return AttributeTarget(statistics, config)(statistics.mean.reshape({1, -1})).reshape({-1});
}

}  // namespace spnn
