#include <spnn/core/json_fields.h>
#include <spnn/training/identity.h>
#include <spnn/data/task.h>

#include <torch/nn/functional/loss.h>

#include <algorithm>

namespace spnn {
namespace {

constexpr std::uint64_t kIdentityInit = 1, kIdentityColours = 3, kIdentityPeople = 4;   // LabelledBatches has its own streams

Tensor unit_rows(const Tensor& v) { return v / v.norm(2, 1, /*keepdim=*/true).clamp_min(1e-6); }

}  // namespace

void to_json(Json& json, const IdentityRecipe& r) {
  json = {{"network", r.network},   {"scale", r.scale},   {"margin", r.margin}, {"margin_warmup", r.margin_warmup},
          {"least_images", r.least_images}, {"colour", r.colour}, {"blur", r.blur},
          {"augment", r.augment}, {"train", r.train}};
}

void from_json(const Json& json, IdentityRecipe& r) {
  JsonFields(json, "identity recipe")
      .required("network", r.network)
      .optional("scale", r.scale)
      .optional("margin", r.margin)
      .optional("margin_warmup", r.margin_warmup)
      .optional("least_images", r.least_images)
      .optional("colour", r.colour)
      .optional("blur", r.blur)
      .optional("augment", r.augment)
      .required("train", r.train)
      .no_others();
  require(r.scale > 0 && r.margin >= 0 && r.margin < 1, "identity recipe", "a scale above 0 and a margin in [0, 1)",
          fmt::format("{} and {}", r.scale, r.margin));
  require(r.colour >= 0 && r.colour < 1 && r.blur >= 0 && r.blur <= 1, "identity recipe", "colour in [0, 1) and blur in [0, 1]",
          fmt::format("{} and {}", r.colour, r.blur));
}

PairFigures compare_pairs(const Tensor& embeddings, const Tensor& people) {
  const torch::NoGradGuard no_grad;
  const auto count = embeddings.size(0);
  require(people.dim() == 1 && people.size(0) == count, "compare_pairs", "a person for every embedding",
          fmt::format("{} and {}", people.size(0), count));
  const auto upper = torch::triu(torch::ones({count, count}, torch::kBool), 1);
  const auto cosines = torch::matmul(embeddings, embeddings.t()).masked_select(upper).to(torch::kFloat64);
  const auto same = people.unsqueeze(0).eq(people.unsqueeze(1)).masked_select(upper);
  PairFigures figures;
  figures.same_pairs = same.sum().item<std::int64_t>();
  figures.different_pairs = same.size(0) - figures.same_pairs;
  require(figures.same_pairs > 0 && figures.different_pairs > 0, "compare_pairs", "pairs of one person and pairs of two",
          fmt::format("{} and {}", figures.same_pairs, figures.different_pairs));
  const auto one = cosines.masked_select(same), two = cosines.masked_select(same.logical_not());
  figures.same = one.mean().item<double>();
  figures.different = two.mean().item<double>();
  // For every same pair the different pairs below it; a tie counts a half.
  const auto ordered = std::get<0>(two.sort());
  const auto below = torch::searchsorted(ordered, one).to(torch::kFloat64);
  const auto not_above = torch::searchsorted(ordered, one, /*out_int32=*/false, /*right=*/true).to(torch::kFloat64);
  figures.auc = (0.5 * (below + not_above)).mean().item<double>() / static_cast<double>(figures.different_pairs);
  return figures;
}

IdentityObjective::IdentityObjective(IdentityRecipe recipe, const Dataset& train, const Dataset& val)
    : recipe_(std::move(recipe)),
      val_(val),
      batches_(train, {.augment = recipe_.augment, .batch = recipe_.train.batch, .seed = recipe_.train.seed}),
      net_(std::make_shared<Identity>(recipe_.network)) {
  require_shape(train.images, net_->in_shape(), "the identity network's training images");
  require(task_of(train) == Task::classes && task_of(val) == Task::classes, "train identity", "people as labels", "attributes");
  const auto first = torch::arange(std::min<std::int64_t>(train.size(), 256), torch::kInt64);
  initialise_identity(*net_, Rng(recipe_.train.seed).fork(kIdentityInit), make_batch(train, first).images);
  const auto people = static_cast<std::int64_t>(train.attributes.size());
  people_ = unit_rows(Rng(recipe_.train.seed).fork(kIdentityPeople).randn({people, recipe_.network.outputs}));
  people_.requires_grad_(true);
}

std::vector<Tensor> IdentityObjective::parameters() {
  auto all = net_->parameters();
  all.push_back(people_);
  return all;
}

void IdentityObjective::restore(const std::map<std::string, Tensor>& state) {
  const torch::NoGradGuard no_grad;
  people_.copy_(state.at("people"));
}

// What light and cameras do: brightness, contrast, saturation and a little blur, each image its own.
Tensor IdentityObjective::recoloured(const Tensor& images, std::int64_t step, Share share) const {
  if (recipe_.colour == 0 && recipe_.blur == 0) return images;
  const torch::NoGradGuard no_grad;
  const auto rng = Rng(recipe_.train.seed).fork(static_cast<std::uint64_t>(step) << 8).fork(kIdentityColours);
  const auto draw = share_of(rng.uniform({recipe_.train.batch, 4}), share).unsqueeze(2).unsqueeze(3);   // [B, 4, 1, 1]
  const auto moved = [&](std::int64_t k) { return (draw.narrow(1, k, 1) * 2 - 1) * recipe_.colour; };
  const auto grey = images.mean(1, /*keepdim=*/true), level = images.mean({1, 2, 3}, /*keepdim=*/true);
  auto x = grey + (images - grey) * (1 + 2 * moved(0));
  x = level + (x - level) * (1 + moved(1)) + moved(2);
  const auto soft = torch::avg_pool2d(torch::replication_pad2d(x, {1, 1, 1, 1}), 3, 1);
  return (x + (soft - x) * (draw.narrow(1, 3, 1) * recipe_.blur)).clamp(-1, 1);
}

Losses IdentityObjective::losses(std::int64_t step, Share share) {
  const auto batch = batches_.get(step, share);
  const auto cosines = torch::matmul(net_->look(recoloured(batch.images, step, share)), unit_rows(people_).t());
  const double rise = recipe_.margin_warmup > 0 ? std::min(1.0, double(step) / double(recipe_.margin_warmup)) : 1.0;
  const auto right = torch::zeros_like(cosines).scatter_(1, batch.labels.unsqueeze(1), recipe_.margin * rise);
  return {{"margin softmax", torch::nn::functional::cross_entropy((cosines - right) * recipe_.scale, batch.labels)}};
}

Validation IdentityObjective::validate() {
  const auto figures = compare_pairs(outputs_over(val_, [&](const Tensor& x) { return net_->embed(x); }), val_.labels);
  return {.score = 1 - figures.auc, .figures = {{"auc", figures.auc}, {"same", figures.same}, {"different", figures.different}}};
}

std::map<std::string, std::string> IdentityObjective::metadata() const {
  return {{"kind", "identity"}, {"architecture", Json(recipe_.network).dump()}, {"recipe", Json(recipe_).dump()}};
}

}  // namespace spnn
