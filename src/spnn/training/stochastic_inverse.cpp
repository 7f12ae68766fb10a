#include <spnn/core/json_fields.h>
#include <spnn/training/stochastic_inverse.h>

#include <algorithm>

namespace spnn {
namespace {

constexpr std::uint64_t kStochasticInit = 1;
constexpr std::int64_t kValidationImages = 512;

}  // namespace

void to_json(Json& json, const StochasticRecipe& r) {
  json = {{"recipe", r.recipe}, {"augment", r.augment}, {"train", r.train}};
}

void from_json(const Json& json, StochasticRecipe& r) {
  JsonFields(json, "stochastic inverse")
      .optional("recipe", r.recipe)
      .optional("augment", r.augment)
      .required("train", r.train)
      .no_others();
}

StochasticInverseObjective::StochasticInverseObjective(StochasticRecipe recipe, InverseObjective::Model model,
                                                       const Dataset& train, const Dataset& val)
    : recipe_(std::move(recipe)),
      model_(std::move(model)),
      val_(val),
      batches_(train, {.augment = recipe_.augment, .batch = recipe_.train.batch, .seed = recipe_.train.seed}) {
  auto& net = *model_.net;
  require_shape(train.images, net.in_shape(), "the inverse's training images");
  if (!net.has_r_set(StochasticInverse::scales)) {
    net.add_r_set(StochasticInverse::scales, Rng(recipe_.train.seed).fork(kStochasticInit));
  }
  for (auto& parameter : net.parameters()) parameter.requires_grad_(false);
  for (auto& parameter : parameters()) parameter.requires_grad_(true);
}

Tensor StochasticInverseObjective::nats(const Tensor& x) const {
  Spnn::Trace trace;
  {
    const torch::NoGradGuard frozen;
    trace = model_.net->trace(x);
  }
  const StochasticInverse inverse(model_.net);
  return -inverse.log_p(trace) / static_cast<double>(inverse.discarded());
}

Losses StochasticInverseObjective::losses(std::int64_t step, Share share) {
  return {{"nats_per_dim", nats(batches_.get(step, share).images).mean()}};
}

Validation StochasticInverseObjective::validate() {
  const auto count = std::min(kValidationImages, val_.size());
  const StochasticInverse inverse(model_.net);
  double sum = 0;
  std::vector<double> chi_square(model_.net->level_count());
  for (std::int64_t first = 0; first < count; first += 64) {
    const auto end = std::min(first + 64, count);
    const auto x = make_batch(val_, torch::arange(first, end, torch::kInt64)).images;
    const auto trace = model_.net->trace(x);
    const auto share = static_cast<double>(end - first) / static_cast<double>(count);
    sum += share * -inverse.log_p(trace).mean().item<double>() / static_cast<double>(inverse.discarded());
    const auto part = inverse.chi_square(trace);
    for (std::size_t l = 0; l < part.size(); ++l) chi_square[l] += share * part[l];
  }
  Validation out{.score = sum, .figures = {{"nats_per_dim", sum}}};
  for (std::size_t l = 0; l < chi_square.size(); ++l) out.figures.emplace_back(fmt::format("chi_square_{}", l), chi_square[l]);
  return out;
}

std::map<std::string, std::string> StochasticInverseObjective::metadata() const {
  return model_.metadata_after("stochastic_recipe", recipe_);
}

}  // namespace spnn
