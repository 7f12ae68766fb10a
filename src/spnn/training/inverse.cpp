#include <spnn/core/json_fields.h>
#include <spnn/networks/subnets.h>
#include <spnn/training/classifier.h>
#include <spnn/training/inverse.h>

#include <algorithm>

namespace spnn {
namespace {

constexpr std::uint64_t kInverseInit = 1;
constexpr std::int64_t kValidationImages = 1024;

struct Named {
  const char* name;
  double PhaseTwoLosses::*lambda;
};
constexpr Named parts[] = {{"natural", &PhaseTwoLosses::natural},
                           {"stability", &PhaseTwoLosses::stability},
                           {"surjectivity", &PhaseTwoLosses::surjectivity},
                           {"regression", &PhaseTwoLosses::regression},
                           {"rollout", &PhaseTwoLosses::rollout},
                           {"range", &PhaseTwoLosses::range},
                           {"min_norm", &PhaseTwoLosses::min_norm}};

PhaseTwoLosses phase_two_losses_of(const std::string& recipe) {
  PhaseTwoLosses l;
  if (recipe == "paper") {
    l.natural = 0.3, l.stability = 1, l.surjectivity = 1;
  } else if (recipe == "reference") {
    l.natural = 0.1, l.stability = 40, l.surjectivity = 1;
  } else if (recipe == "fast") {
    l.regression = 1, l.rollout = 1;
  } else if (recipe == "natural") {
    l.natural = 1;
  } else if (recipe == "min-norm") {
    l.min_norm = 1;
  } else {
    fail("inverse.recipe", "paper, reference, fast, natural or min-norm", "'" + recipe + "'");
  }
  return l;
}

}  // namespace

void to_json(Json& json, const InverseRecipe& r) {
  Json losses;
  for (const auto& part : parts) losses[part.name] = r.losses.*part.lambda;
  json = {{"recipe", r.recipe},   {"losses", losses}, {"r_set", r.r_set}, {"from_scratch", r.from_scratch},
          {"augment", r.augment}, {"train", r.train}};
}

void from_json(const Json& json, InverseRecipe& r) {
  Json losses = Json::object();
  JsonFields fields(json, "inverse");
  fields.optional("recipe", r.recipe);
  if (r.recipe == "min-norm") r.r_set = "min_norm";
  fields.optional("losses", losses)
      .optional("r_set", r.r_set)
      .optional("from_scratch", r.from_scratch)
      .optional("augment", r.augment)
      .required("train", r.train)
      .no_others();
  r.losses = phase_two_losses_of(r.recipe);
  JsonFields weights(losses, "losses");
  for (const auto& part : parts) {
    weights.optional(part.name, r.losses.*part.lambda);
    require(r.losses.*part.lambda >= 0, "losses", "weights of 0 or more", losses.dump());
  }
  weights.no_others();
}

InverseObjective::InverseObjective(InverseRecipe recipe, Model model, const Dataset& train, const Dataset& val)
    : recipe_(std::move(recipe)),
      model_(std::move(model)),
      val_(val),
      batches_(train, {.augment = recipe_.augment, .batch = recipe_.train.batch, .seed = recipe_.train.seed}) {
  auto& net = *model_.net;
  require_shape(train.images, net.in_shape(), "phase II's training images");
  const auto rng = Rng(recipe_.train.seed).fork(kInverseInit);
  if (!net.has_r_set(recipe_.r_set)) {
    net.add_r_set(recipe_.r_set, rng);
  } else if (recipe_.from_scratch) {
    const auto& set = net.r_set(recipe_.r_set);
    for (std::size_t l = 0; l < set.size(); ++l) initialise_subnet(*set[l], rng.fork(l));
  }
  for (auto& value : net.parameters()) value.requires_grad_(false);
  for (auto& value : parameters()) value.requires_grad_(true);
  q_of_zero_ = q_of_zero(net);
}

Losses InverseObjective::weighted(const Tensor& x) const {
  return phase_two_losses(*model_.net, model_.net->r_set(recipe_.r_set), recipe_.losses, x, q_of_zero_);
}

Losses InverseObjective::losses(std::int64_t step, Share share) {
  auto parts_of_loss = weighted(batches_.get(step, share).images);
  require(!parts_of_loss.empty(), "losses", "at least one weight above 0", "none");
  return parts_of_loss;
}

Validation InverseObjective::validate() {
  const auto count = std::min(kValidationImages, val_.size());
  std::map<std::string, double> sums;
  for (std::int64_t first = 0; first < count; first += 64) {
    const auto end = std::min(first + 64, count);
    const auto x = make_batch(val_, torch::arange(first, end, torch::kInt64)).images;
    for (const auto& [name, value] : weighted(x)) sums[name] += value.item<double>() * static_cast<double>(end - first);
  }
  Validation out{.score = 0, .figures = {{"stability", stability_over(val_, *model_.net, recipe_.r_set, count)}}};
  for (const auto& [name, sum] : sums) {
    out.score += sum / static_cast<double>(count);
    out.figures.emplace_back("loss_" + name, sum / static_cast<double>(count));
  }
  return out;
}

std::map<std::string, std::string> InverseObjective::Model::metadata_after(const std::string& key, const Json& recipe) const {
  auto out = metadata;
  out["kind"] = "spnn";
  out["architecture"] = to_json(net->config()).dump();
  out[key] = recipe.dump();
  return out;
}

std::map<std::string, std::string> InverseObjective::metadata() const { return model_.metadata_after("inverse_recipe", recipe_); }

}  // namespace spnn
