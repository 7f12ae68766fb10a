#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/core/json_fields.h>
#include <spnn/training/classifier.h>
#include <spnn/training/natural.h>
#include <spnn/training/spnn_recipe.h>

#include <algorithm>

namespace spnn {
namespace {

// LabelledBatches forks 1 and 2 from the same step.
constexpr std::uint64_t kNaturalInit = 1, kNaturalCritic = 2, kNaturalDisturb = 5, kNaturalTargets = 6, kNaturalShown = 7, kNaturalShift = 8,
                        kNaturalPhotos = 9;
constexpr std::int64_t kNaturalImages = 512;   // of a validation's moves
constexpr double kNaturalSpill = 1.1;          // critic and teacher are shown no values beyond

struct NaturalPart {
  const char* name;
  double NaturalLosses::*lambda;
};
constexpr NaturalPart natural_parts[] = {{"task", &NaturalLosses::task},           {"memory", &NaturalLosses::memory},
                                         {"regression", &NaturalLosses::regression},
                                         {"stability", &NaturalLosses::stability}, {"range", &NaturalLosses::range},
                                         {"teacher", &NaturalLosses::teacher},     {"critic", &NaturalLosses::critic},
                                         {"wish", &NaturalLosses::wish},           {"features", &NaturalLosses::features},
                                         {"closeness", &NaturalLosses::closeness}, {"sparsity", &NaturalLosses::sparsity}};

// Moved by the same few pixels, the border repeated: what is asked for must not hang on a pixel.
Tensor shifted(const Tensor& x, std::int64_t most, const Rng& rng) {
  if (most == 0) return x;
  const auto span = static_cast<std::uint64_t>(2 * most + 1);
  const auto bits = rng.seed();
  const auto top = static_cast<std::int64_t>((bits >> 8) % span), left = static_cast<std::int64_t>((bits >> 32) % span);
  return torch::replication_pad2d(x, {most, most, most, most}).narrow(2, top, x.size(2)).narrow(3, left, x.size(3));
}

// ±1 where an attribute was set. An image with all outputs of another one has no wish.
Tensor wish_of_moves(const MoveTarget& target) { return target.set * (2 * target.on - 1); }

// √(d² + ε²) − ε of pixels and of means over 4×4 of them: grain counts once, a cast of colour twice.
Tensor sparsity_of(const Tensor& difference) {
  constexpr double e = 0.02;
  const auto absolute = [](const Tensor& d) { return (d.square() + e * e).sqrt().mean() - e; };
  return absolute(difference) + absolute(torch::avg_pool2d(difference, 4));
}

}  // namespace

void to_json(Json& json, const NaturalRecipe& r) {
  Json losses;
  for (const auto& part : natural_parts) losses[part.name] = r.losses.*part.lambda;
  json = {{"network", to_json(r.network)},
          {"losses", losses},
          {"moved_every", r.moved_every},
          {"inverse_every", r.inverse_every},
          {"natural_from", r.natural_from},
          {"natural_ramp", r.natural_ramp},
          {"set_weight", r.set_weight},
          {"label_smoothing", r.label_smoothing},
          {"targets", r.targets},
          {"disturb", r.disturb},
          {"shown", r.shown},
          {"shown_shift", r.shown_shift},
          {"critic", r.critic},
          {"augment", r.augment},
          {"train", r.train}};
  if (!r.guidance.empty()) json["guidance"] = to_json(r.guidance);
}

void from_json(const Json& json, NaturalRecipe& r) {
  Json network, losses = Json::object(), guidance = Json::object();
  JsonFields(json, "natural")
      .required("network", network)
      .optional("losses", losses)
      .optional("moved_every", r.moved_every)
      .optional("inverse_every", r.inverse_every)
      .optional("natural_from", r.natural_from)
      .optional("natural_ramp", r.natural_ramp)
      .optional("set_weight", r.set_weight)
      .optional("label_smoothing", r.label_smoothing)
      .optional("targets", r.targets)
      .optional("disturb", r.disturb)
      .optional("shown", r.shown)
      .optional("shown_shift", r.shown_shift)
      .optional("critic", r.critic)
      .optional("augment", r.augment)
      .required("train", r.train)
      .optional("guidance", guidance)
      .no_others();
  r.guidance = guidance_windows_from(guidance, "guidance");
  r.network = recipe_network(network);
  JsonFields weights(losses, "losses");
  for (const auto& part : natural_parts) {
    weights.optional(part.name, r.losses.*part.lambda);
    require(r.losses.*part.lambda >= 0, "losses", "weights of 0 or more", losses.dump());
  }
  weights.no_others();
  require(r.moved_every > 0 && r.inverse_every > 0 && r.train.batch % (r.moved_every * r.inverse_every) == 0, "natural",
          fmt::format("moved_every × inverse_every to divide the batch of {}", r.train.batch),
          fmt::format("{} × {}", r.moved_every, r.inverse_every));
  require(std::min({r.natural_from, r.natural_ramp, r.shown_shift}) >= 0 && r.set_weight >= 0, "natural",
          "natural_from, natural_ramp, shown_shift and set_weight of 0 or more", json.dump());
}

NaturalObjective::NaturalObjective(NaturalRecipe recipe, std::shared_ptr<Judge> teacher, const Dataset& train, const Dataset& val,
                                   std::shared_ptr<const Spnn> memory)
    : recipe_(std::move(recipe)),
      train_(train),
      val_(val),
      batches_(train, {.augment = recipe_.augment, .batch = recipe_.train.batch, .seed = recipe_.train.seed}),
      targets_(recipe_.targets, train),
      teacher_(std::move(teacher)),
      memory_(std::move(memory)),
      net_(network_for(train, recipe_.network, Rng(recipe_.train.seed).fork(kNaturalInit))),
      critic_(recipe_.critic,
              {.channels = recipe_.network.input.channels, .image_size = recipe_.network.input.height,
               .wishes = recipe_.losses.wish > 0 ? static_cast<std::int64_t>(train.attributes.size()) : 0},
              Rng(recipe_.train.seed).fork(kNaturalCritic)) {
  const auto labels = static_cast<std::int64_t>(train.attributes.size());
  require(task_of(train) == Task::attributes, "train natural", "images with attributes", "classes");
  require(teacher_ && teacher_->config().outputs == labels && teacher_->in_shape() == net_->in_shape(), "the teacher",
          fmt::format("{} outputs for images of {}", labels, to_string(net_->in_shape())),
          teacher_ ? fmt::format("{} for {}", teacher_->config().outputs, to_string(teacher_->in_shape())) : "none");
  require((recipe_.losses.memory > 0) == (memory_ != nullptr), "train natural --memory",
          recipe_.losses.memory > 0 ? "a network, because losses.memory is above 0" : "none, because losses.memory is 0",
          memory_ ? "one" : "none");
  if (memory_) {
    require(memory_->in_shape() == net_->in_shape() && memory_->out_shape() == net_->out_shape(), "train natural --memory",
            fmt::format("{} → {}", to_string(net_->in_shape()), to_string(net_->out_shape())),
            fmt::format("{} → {}", to_string(memory_->in_shape()), to_string(memory_->out_shape())));
  }
  for (auto& value : teacher_->parameters()) value.requires_grad_(false);
}

double NaturalObjective::weight_of_moves(std::int64_t step) const {
  const auto since = static_cast<double>(step + 1 - recipe_.natural_from);
  return std::clamp(since / static_cast<double>(std::max<std::int64_t>(recipe_.natural_ramp, 1)), 0.0, 1.0);
}

// Rows that are not moved: nothing is asked of what their moves look like.
Tensor NaturalObjective::partly_disturbed(const Tensor& images, const Rng& rng, Share share) const {
  if (!recipe_.disturb.enabled() || recipe_.moved_every == 1) return images;
  const auto changed = disturbed(images, recipe_.disturb, rng, share);
  const auto row = torch::arange(images.size(0), torch::kInt64).remainder(recipe_.moved_every).view({-1, 1, 1, 1});
  return torch::where(row.eq(0), images, changed);
}

Tensor NaturalObjective::move(const Spnn::Trace& trace, const std::vector<Tensor>& predicted, const Tensor& y) const {
  const auto& r = net_->r_set();
  return net_->descend(y, [&](std::size_t l, const Tensor& y_l) { return trace.levels[l].z - predicted[l] + r[l]->forward(y_l); });
}

Losses NaturalObjective::losses(std::int64_t step, Share share) {
  const auto& lambda = recipe_.losses;
  const auto batch = batches_.get(step, share);
  const auto rng = Rng(recipe_.train.seed).fork(static_cast<std::uint64_t>(step) << 8);
  const MixScope once_per_step(*net_);
  const auto trace = net_->trace(partly_disturbed(batch.images, rng.fork(kNaturalDisturb), share));
  Losses parts{{"task", lambda.task * task_loss(Task::attributes, trace.y, batch.labels, {.label_smoothing = recipe_.label_smoothing})}};
  parts.emplace_back("memory", memory_ ? lambda.memory * memory_loss(trace.y, batch.images) : torch::zeros({}));
  targets_.observe(trace.y, batch.labels);

  const auto some = every_nth(trace, recipe_.moved_every);
  const auto of_moved = [&](const Tensor& all) { return all.slice(0, 0, all.size(0), recipe_.moved_every); };
  const auto x = of_moved(batch.images);
  std::vector<Tensor> predicted;   // serves the regression and the moves
  Tensor regression = torch::zeros({});
  for (std::size_t l = 0; l < some.levels.size(); ++l) {
    predicted.push_back(net_->r(l, some.levels[l].y));
    regression = regression + torch::mse_loss(predicted.back(), some.levels[l].z);
  }
  parts.emplace_back("regression", lambda.regression * regression);
  const auto of_inverted = [&](const Tensor& all) { return all.slice(0, 0, all.size(0), recipe_.inverse_every); };
  const auto stability = lambda.stability > 0 ? torch::mse_loss(net_->pinv(of_inverted(some.y)), of_inverted(x)) : torch::zeros({});
  parts.emplace_back("stability", lambda.stability * stability);

  seen_ = {};
  const auto weight = weight_of_moves(step);
  Moves moves{.x = x, .moved = {}, .target = {}, .photos = {}};
  if (weight > 0) {
    moves.target = targets_.draw(some.y, of_moved(batch.labels), rng.fork(kNaturalTargets), share);
    moves.moved = move(some, predicted, moves.target.y);
    moves.photos = photos_like(moves.target, x, rng.fork(kNaturalPhotos));
    seen_ = {.photos = moves.photos, .moved = moves.moved.detach().clamp(-kNaturalSpill, kNaturalSpill), .before = x, .wish = wish_of_moves(moves.target)};
  }
  add_move_losses(parts, moves, rng, share, weight);
  return parts;
}

// Every part has its column in the record from the first step on.
void NaturalObjective::add_move_losses(Losses& parts, const Moves& moves, const Rng& rng, Share share, double weight) const {
  const auto& lambda = recipe_.losses;
  const auto add = [&](const char* name, double of_part, const auto& value) {
    parts.emplace_back(name, weight > 0 && of_part > 0 ? weight * of_part * value() : torch::zeros({}));
  };
  const auto difference = [&] { return moves.moved.narrow(0, 0, moves.target.edited) - moves.x.narrow(0, 0, moves.target.edited); };
  const bool any_set = weight > 0 && moves.target.edited > 0;
  const bool critical = weight > 0 && std::max({lambda.critic, lambda.wish, lambda.features}) > 0;
  const auto opinion = critical ? critic_.critic().look(moves.moved.clamp(-kNaturalSpill, kNaturalSpill)) : Critic::Opinion{};
  add("range", lambda.range, [&] { return torch::relu(moves.moved.abs() - 1).square().mean(); });
  add("teacher", lambda.teacher, [&] { return teacher_loss(moves, rng, share); });
  add("critic", lambda.critic, [&] { return critic_.doubt(opinion); });
  add("wish", any_set ? lambda.wish : 0, [&] { return critic_.unmet(opinion, wish_of_moves(moves.target)); });
  add("features", lambda.features, [&] { return critic_.feature_distance(moves.photos, opinion); });
  add("closeness", any_set ? lambda.closeness : 0, [&] { return difference().square().mean(); });
  add("sparsity", any_set ? lambda.sparsity : 0, [&] { return sparsity_of(difference()); });
}

// Beside an image that was given all outputs of another one, that other one.
Tensor NaturalObjective::photos_like(const MoveTarget& target, const Tensor& x, const Rng& rng) const {
  const torch::NoGradGuard no_grad;
  const auto swapped = x.size(0) - target.edited;
  std::vector<Tensor> photos;
  if (target.edited > 0) {
    const auto found = make_batch(train_, target.like.clamp_min(0), {.flip = recipe_.augment.flip, .shift = recipe_.augment.shift}, rng).images;
    photos.push_back(torch::where(target.like.ge(0).view({-1, 1, 1, 1}), found, x.narrow(0, 0, target.edited)));
  }
  if (swapped > 0) photos.push_back(x.narrow(0, target.edited, swapped).roll(1, 0));
  return torch::cat(photos);
}

// The earlier network sees the images without noise: g shall say the same through it.
Tensor NaturalObjective::memory_loss(const Tensor& y, const Tensor& images) const {
  Tensor remembered;
  {
    const torch::NoGradGuard no_grad;
    remembered = torch::sigmoid(memory_->forward(images));
  }
  return torch::binary_cross_entropy_with_logits(y, remembered);
}

Tensor NaturalObjective::teacher_loss(const Moves& moves, const Rng& rng, Share share) const {
  const auto& [x, moved, target, photos] = moves;
  const auto said_of = [&](const Tensor& image) { return teacher_->logits(teacher_->look(image)); };
  Tensor wanted;
  {
    const torch::NoGradGuard no_grad;
    const auto said = torch::sigmoid(said_of(x));
    wanted = torch::where(target.set.gt(0.5), target.on, said);
    const auto swapped = x.size(0) - target.edited;
    if (swapped > 0) wanted.narrow(0, target.edited, swapped).copy_(said.narrow(0, target.edited, swapped).roll(1, 0));
  }
  const auto in_range = moved.clamp(-kNaturalSpill, kNaturalSpill);
  const auto seen = disturbed(shifted(in_range, recipe_.shown_shift, rng.fork(kNaturalShift)), recipe_.shown, rng.fork(kNaturalShown), share);
  return torch::binary_cross_entropy_with_logits(said_of(seen), wanted, 1 + recipe_.set_weight * target.set);
}

void NaturalObjective::after_step(std::int64_t step, Communicator& communicator) {
  targets_.after_step(communicator);
  const auto& lambda = recipe_.losses;
  if (seen_.photos.defined() && std::max({lambda.critic, lambda.wish, lambda.features}) > 0) critic_.step(step, seen_, communicator);
}

Validation NaturalObjective::validate() {
  const auto outputs = outputs_over(val_, [&](const Tensor& x) { return net_->forward(x); });
  const auto accuracy = accuracy_of(Task::attributes, outputs, val_.labels).mean;
  const auto count = std::min(kNaturalImages, val_.size());
  double right = 0, set = 0, changed = 0, others = 0, square = 0, edited = 0, doubt = 0, batches = 0;
  for (std::int64_t first = 0; first < count; first += 64) {
    const torch::NoGradGuard no_grad;
    const auto batch = make_batch(val_, torch::arange(first, std::min(first + 64, count), torch::kInt64));
    const auto trace = net_->trace(batch.images);
    std::vector<Tensor> predicted;
    for (std::size_t l = 0; l < trace.levels.size(); ++l) predicted.push_back(net_->r(l, trace.levels[l].y));
    const auto target = targets_.draw(trace.y, batch.labels, Rng(recipe_.train.seed).fork(kNaturalTargets).fork(static_cast<std::uint64_t>(first)));
    const auto moved = move(trace, predicted, target.y).clamp(-1, 1);
    const auto rows = [&](const Tensor& all) { return all.narrow(0, 0, target.edited); };
    const auto before = teacher_->forward(batch.images).gt(0), after = teacher_->forward(moved).gt(0);
    const auto was_set = rows(target.set).gt(0.5);
    right += rows(after).eq(rows(target.on).gt(0.5)).logical_and(was_set).sum().item<double>();
    set += was_set.sum().item<double>();
    changed += rows(after).ne(rows(before)).logical_and(was_set.logical_not()).sum().item<double>();
    others += was_set.logical_not().sum().item<double>();
    square += (rows(moved) - rows(batch.images)).square().flatten(1).mean(1).sum().item<double>();
    edited += static_cast<double>(target.edited);
    doubt += critic_.critic().look(batch.images).patches.mean().item<double>() - critic_.critic().look(moved).patches.mean().item<double>();
    ++batches;
  }
  const auto success = right / std::max(set, 1.0);
  return {.score = (1 - accuracy) + 0.2 * (1 - success),
          .figures = {{"mean_accuracy", accuracy},
                      {"validation_loss", task_loss(Task::attributes, outputs, val_.labels).item<double>()},
                      {"stability", stability_over(val_, *net_, "r", kNaturalImages)},
                      {"teacher_success", success},
                      {"others_changed", changed / std::max(others, 1.0)},
                      {"move_rms", std::sqrt(square / std::max(edited, 1.0))},
                      {"critic_gap", doubt / std::max(batches, 1.0)}}};
}

std::map<std::string, std::string> NaturalObjective::metadata() const {
  auto metadata = spnn_metadata(*net_, val_, Task::attributes, recipe_, recipe_.guidance);
  metadata["exclusive"] = Json(recipe_.targets.exclusive).dump();
  return metadata;
}

std::map<std::string, Tensor> NaturalObjective::state() const {
  auto out = critic_.state();
  out.merge(targets_.state());
  return out;
}

void NaturalObjective::restore(const std::map<std::string, Tensor>& state) {
  critic_.restore(state);
  targets_.restore(state);
}

}  // namespace spnn
