#include <spnn/core/errors.h>
#include <spnn/core/nearest_names.h>
#include <spnn/restoration/field.h>

#include <algorithm>

namespace spnn {
namespace {

struct MethodRow {
  MethodInfo info;
  Tensor (*run)(const Problem&, const MethodConfig&, Observer&);
};

const std::vector<MethodRow>& entries() {
  static const std::vector<MethodRow> all = {
      {{"nlbp", "non-linear back-projection of every x̂0, the paper's, as far as y is to be trusted; any operator", false, true}, field::nlbp},
      {{"ddnm", "null-space diffusion: x̂0 + A†(y − A x̂0)", true}, field::ddnm},
      {{"ddnm+", "ddnm with the noise of y made part of the sampler's", true, true}, field::ddnm_plus},
      {{"ddrm", "diffusion coordinate by coordinate of the SVD", true, true}, field::ddrm},
      {{"snips", "annealed Langevin steps of the posterior in the SVD's coordinates", true, true}, field::snips},
      {{"dps", "gradient of ‖y − g(x̂0)‖ through the prior; any operator", false, true}, field::dps},
      {{"mcg", "dps, then the seen part replaced by noised A†y", true}, field::mcg},
      {{"repaint", "the seen part replaced by noised A†y, with time travel", true}, field::repaint},
      {{"ibp", "iterative back-projection (Irani–Peleg) without a prior; any operator"}, field::ibp},
      {{"pinv", "g†(y), nothing else; any operator"}, field::pinv},
  };
  return all;
}

std::vector<std::string> names_where(bool any_operator) {
  std::vector<std::string> names;
  for (const auto& entry : entries()) {
    if (!any_operator || !entry.info.linear_only) names.push_back(entry.info.name);
  }
  return names;
}

const MethodRow& entry_of(const std::string& name) {
  const auto found = std::ranges::find_if(entries(), [&](const MethodRow& e) { return e.info.name == name; });
  if (found != entries().end()) return *found;
  throw UsageError(fmt::format("method: expected one of {}, got '{}' (did you mean {}?)", fmt::join(names_where(false), ", "), name,
                               fmt::join(nearest_names(name, names_where(false), 2), ", ")));
}

}  // namespace

const std::vector<MethodInfo>& method_catalogue() {
  static const std::vector<MethodInfo> infos = [] {
    std::vector<MethodInfo> out;
    for (const auto& entry : entries()) out.push_back(entry.info);
    return out;
  }();
  return infos;
}

const MethodInfo& method_info(const std::string& name) { return entry_of(name).info; }

void require_applies(const MethodInfo& method, const Degradation& g) {
  if (!method.linear_only || g.linear) return;
  throw UsageError(fmt::format("method {}: expected a linear operator, got '{}' ({} take any operator)", method.name, g.name,
                               fmt::join(names_where(true), ", ")));
}

Tensor restore_by(const std::string& method, const Problem& p, const MethodConfig& c, Observer& observer) {
  const auto& entry = entry_of(method);
  require_applies(entry.info, p.g);
  require(p.prior.shape() == p.g.in_shape(), "restore", fmt::format("a prior of {} images, as the operator has", to_string(p.g.in_shape())),
          to_string(p.prior.shape()));
  require_shape(p.y, p.g.g->out_shape(), fmt::format("measurement of {}", p.g.name));
  require(p.y.size(0) == p.seeds.size(), "restore", fmt::format("{} seeds", p.y.size(0)), fmt::format("{}", p.seeds.size()));
  for (const double sigma : p.sigma_y.levels()) require(sigma >= 0, "restore", "a noise of 0 or more", fmt::format("{}", sigma));
  require(c.lambda >= 0 && c.lambda <= 1, "lambda", "a number in [0, 1]", fmt::format("{}", c.lambda));
  return entry.run(p, c, observer);
}

}  // namespace spnn
