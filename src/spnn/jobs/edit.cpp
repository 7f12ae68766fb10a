#include <spnn/core/errors.h>
#include <spnn/image/image.h>
#include <spnn/jobs/make_images.h>
#include <spnn/jobs/photo_editing.h>
#include <spnn/jobs/pictures.h>
#include <spnn/jobs/requests.h>
#include <spnn/restoration/taken_once.h>

#include <algorithm>

namespace spnn::engine {
namespace {

Tensor open_photos(const EditRequest& wish, const RestorationModels& models, const Shape& shape, Observer& observer) {
  std::vector<Tensor> photos;
  for (const auto& photo : wish.photos) photos.push_back(open_photo(photo, shape, wish.fit, &observer));
  return to_unit(torch::stack(photos)).repeat_interleave(wish.samples, 0).to(models.device());
}

// "Smiling_no-Male": a name for files and sections.
std::string name_of(const EditRequest& wish) {
  std::string what;
  for (const auto& a : wish.attributes) what += fmt::format("{}{}{}", what.empty() ? "" : "_", a.present ? "" : "no-", a.name);
  return as_file_name(what);
}

std::vector<std::string> stems_of(const EditRequest& wish) {
  if (wish.photos.empty()) return {name_of(wish)};
  std::vector<std::string> stems;
  for (const auto& photo : wish.photos) stems.push_back(as_file_name(name_of(photo)));
  return stems;
}

std::string described(const AttributeTarget& target, const EditRequest& wish) {
  std::string text;
  for (std::size_t i = 0; i < wish.attributes.size(); ++i) {
    text += fmt::format("{}{}={} ({}, logit {:.1f})", text.empty() ? "" : ", ", wish.attributes[i].name,
                        wish.attributes[i].present ? 1 : 0, spnn::to_string(target.strategies()[i]),
                        target.goal()[static_cast<std::int64_t>(i)].item<double>());
  }
  return text;
}

// Attributes of nobody in particular: all outputs follow what training images have.
EditResult from_noise(const LoadedModels& loaded, const RestorationModels& models, const EditRequest& wish, const Delivery& delivery, Observer& observer) {
  if (wish.fast || wish.keep) throw UsageError(fmt::format("edit --{}: expected a photo, got none", wish.fast ? "fast" : "keep"));
  const auto statistics = statistics_of(models.classifier);
  const AttributeTarget target(statistics, {.changes = delivery.changes, .strength = wish.strength, .margin = wish.margin});
  observer.message(described(target, wish));
  const auto guidance = for_editing(wish.guidance, models.classifier, observer);
  RestorationTask task{.seeds = ImageSeeds(wish.seed, std::ssize(delivery.names)),
                       .target = [&](std::int64_t, std::int64_t) { return wish.each_step ? Target(target) : taken_once(target, statistics); },
                       .guidance = make_guidance(guidance, target.controlled())};
  const auto g = make_projector(models.classifier, guidance);
  if (const auto second = loaded.upscaler()) task.large = enlargement(second, g, wish.sampling, task.seeds, Tensor());
  return make_images(loaded, models, *g, restorer_config(guidance, wish.sampling, loaded.device()), std::move(task), delivery, observer);
}

// y' of each photo, found once: outputs that nobody asked about stay as they are, unless a strategy that moves them was asked for. A class
// takes the place of another, so there they always move.
Tensor goals_of(const EditRequest& wish, const RestorationModels& models, const Delivery& delivery, const Tensor& y, Observer& observer) {
  if (models.classifier.outputs.task == "attributes" && !moves_others(wish.attributes)) return wish_of(wish.attributes, models.classifier)(y);
  const AttributeTarget target(statistics_of(models.classifier), {.changes = delivery.changes, .strength = wish.strength, .margin = wish.margin});
  observer.message(described(target, wish));
  return taken_once(target, statistics_of(models.classifier))(y);
}

// One back-projection of each photo; then, unless it shall be fast, the prior takes away what is no photo in what was moved.
EditResult from_photos(const LoadedModels& loaded, const RestorationModels& models, const EditRequest& wish, const Delivery& delivery, Observer& observer) {
  auto way = photo_way({.fast = wish.fast, .keep = wish.keep}, wish.guidance, wish.sampling, loaded.device());
  // Another class is another picture: it is drawn again.
  if (wish.redraw || (models.classifier.outputs.task != "attributes" && !wish.fast && !wish.keep)) {
    const auto guidance = for_editing(wish.guidance, models.classifier, observer);
    way = {.config = restorer_config(guidance, wish.sampling, loaded.device()), .time = guidance.window_from.value()};
  }
  const auto g = make_projector(models.classifier, wish.guidance);
  const auto second = loaded.upscaler();
  const auto large = open_photos(wish, models, loaded.large_prior()->shape(), observer);
  const auto photos = second ? second->low(large) : large;
  std::vector<Tensor> outputs;
  for (std::int64_t first = 0; first < photos.size(0); first += way.config.batch) {
    outputs.push_back(g->forward(photos.slice(0, first, std::min(first + way.config.batch, photos.size(0)))));
  }
  const auto goal = goals_of(wish, models, delivery, torch::cat(outputs), observer);
  RestorationTask task{.seeds = ImageSeeds(wish.seed, std::ssize(delivery.names)),
                       .target = [&](std::int64_t first, std::int64_t last) { return fixed(goal.slice(0, first, last)); },
                       .guidance = make_guidance(wish.guidance),
                       .start = {.photo = photos, .time = way.time}};
  if (wish.each_step) {
    const AttributeTarget target(statistics_of(models.classifier), {.changes = delivery.changes, .strength = wish.strength, .margin = wish.margin});
    task.target = [target](std::int64_t, std::int64_t) { return Target(target); };
    task.guidance = make_guidance(wish.guidance, target.controlled());
  }
  if (second) task.large = enlargement(second, g, wish.sampling, task.seeds, wish.invent ? Tensor() : large);
  return make_images(loaded, models, *g, way.config, std::move(task), delivery, observer);
}

}  // namespace

EditResult edit(const LoadedModels& loaded, const EditRequest& wish, Observer& observer) {
  const torch::NoGradGuard no_grad;
  if (wish.attributes.empty()) throw UsageError("edit: expected one attribute or more (--set, --unset), got none");
  Delivery delivery{.files = wish.files, .section = "edit-" + name_of(wish), .title = "Edit: " + name_of(wish), .ask_judge = wish.ask_judge};
  const auto models = loaded.restoration();
  delivery.loading = delivery.since.seconds();
  delivery.changes = attribute_changes(wish.attributes, models.names(), /*graded=*/!wish.photos.empty());
  name_images(delivery, stems_of(wish), wish.samples);
  return wish.photos.empty() ? from_noise(loaded, models, wish, delivery, observer) : from_photos(loaded, models, wish, delivery, observer);
}

}  // namespace spnn::engine
