#include <spnn/core/errors.h>
#include <spnn/core/json_fields.h>
#include <spnn/diffusion/autoguidance.h>

namespace spnn {

Json to_json(const Autoguidance& lead) { return {{"weight", lead.weight}, {"from", lead.from}, {"to", lead.to}}; }

Autoguidance autoguidance_from(const Json& json, const std::string& where) {
  Autoguidance lead;
  JsonFields(json, where).optional("weight", lead.weight).optional("from", lead.from).optional("to", lead.to).no_others();
  require(lead.weight >= 0 && lead.weight <= 10, where + ".weight", "a number in [0, 10]", std::to_string(lead.weight));
  require(lead.to >= 0 && lead.to <= lead.from, where, "0 ≤ to ≤ from", fmt::format("{} and {}", lead.to, lead.from));
  return lead;
}

AutoguidedDenoiser::AutoguidedDenoiser(std::shared_ptr<const Denoiser> good, std::shared_ptr<const Denoiser> weak, const Autoguidance& lead)
    : good_(std::move(good)), weak_(std::move(weak)), lead_(lead) {
  require(weak_->shape() == good_->shape(), "the weak prior", "images of " + to_string(good_->shape()), to_string(weak_->shape()));
  const auto &ours = good_->schedule(), &theirs = weak_->schedule();
  require(ours.steps() == theirs.steps() && ours.alpha_bar(ours.steps() / 2) == theirs.alpha_bar(ours.steps() / 2), "the weak prior",
          "the schedule of the prior", "another one");
}

Tensor AutoguidedDenoiser::eps(const Tensor& x_t, std::int64_t t) const {
  const auto eps = good_->eps(x_t, t);
  if (t < lead_.to || t >= lead_.from || lead_.weight == 0) return eps;
  return eps + lead_.weight * (eps - weak_->eps(x_t, t));
}

std::shared_ptr<const Denoiser> unled(const std::shared_ptr<const Denoiser>& prior) { return led(prior, 0); }

std::shared_ptr<const Denoiser> led(const std::shared_ptr<const Denoiser>& prior, double weight) {
  const auto both = std::dynamic_pointer_cast<const AutoguidedDenoiser>(prior);
  if (!both) return prior;
  if (weight == 0) return both->good();
  auto lead = both->lead();
  lead.weight = weight;
  return std::make_shared<AutoguidedDenoiser>(both->good(), both->weak(), lead);
}

}  // namespace spnn
